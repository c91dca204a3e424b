// The page to try a model by hand: a form for one row, and the tree of its answer.

const model = JSON.parse(document.getElementById("model").textContent);
const byId = (id) => document.getElementById(id);

/** Make an element; texts are never read as markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// ---------------------------------------------------------------------- the form

const inputs = new Map();
for (const [name, kind] of model.columns) {
  const isLong = kind === "text";
  const input = make(isLong ? "textarea" : "input", { name, autocomplete: "off", id: `field-${inputs.size}` });
  if (kind === "number") input.setAttribute("inputmode", "decimal");
  const hint = kind === "text" ? "" : ` (${kind})`;
  byId("fields").append(make("label", { class: "field" }, name, make("small", {}, hint), input));
  inputs.set(name, input);
}
if (model.languages.length > 0) {
  for (const tag of model.languages) {
    byId("language").append(make("option", { value: tag }, tag || "none"));
  }
  if (model.language) byId("language").value = model.language;
  byId("languages").hidden = false;
}

function question() {
  const row = {};
  for (const [name, input] of inputs) row[name] = input.value === "" ? null : input.value;
  const asked = { rows: [row], tree: true, limit: byId("limit").valueAsNumber, threshold: byId("threshold").valueAsNumber };
  if (byId("language").value) asked.language = byId("language").value;
  return asked;
}

// ---------------------------------------------------------------------- the answer

const percent = (score) => (score === null ? "" : `${(100 * score).toFixed(1)} %`);

function nodeRow(node, chosen) {
  const bar = make("span");
  bar.style.width = `${100 * (node.score ?? 0)}%`;
  const name = make("span", { class: "name" }, node.label);
  if (node.notation) name.append(" ", make("span", { class: "code" }, node.notation));
  if (chosen) name.append(make("span", { class: "code" }, " predicted"));
  return make(
    "div", { class: chosen ? "node chosen" : "node" }, name,
    make("span", { class: "bar", "aria-hidden": "true" }, bar),
    make("span", { class: "score" }, percent(node.score)),
  );
}

/** Draw nodes below their most probable parent, most probable first. */
function drawTree(nodes, chosen) {
  const below = new Map();
  const rank = new Map(nodes.map((node, i) => [node.id, i]));
  for (const node of nodes) {
    const parents = node.parents.filter((id) => rank.has(id)).sort((a, b) => rank.get(a) - rank.get(b));
    const parent = parents.length > 0 ? parents[0] : 0;
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent).push(node);
  }
  const list = (parent, attributes) => {
    const items = (below.get(parent) ?? []).map((node) => {
      const item = make("li", {}, nodeRow(node, chosen.has(node.uri)));
      if (below.has(node.id)) item.append(list(node.id, {}));
      return item;
    });
    return make("ul", attributes, ...items);
  };
  return list(0, { class: "tree", "aria-label": "Classes and their probabilities" });
}

function show(reply) {
  const [answer] = reply.predictions;
  const chosen = new Set(answer.labels.map((label) => label.uri));
  const words = answer.labels.map((label) => (label.path ?? [label.label]).join(" › ")).join("; ");
  const parts = [make("h2", {}, "Prediction"), make("p", { class: "decision" }, words || "no label")];
  if (answer.nodes) parts.push(make("h2", {}, "Probabilities"), drawTree(answer.nodes, chosen));
  for (const note of reply.notes ?? []) parts.push(make("p", { class: "soft" }, note));
  byId("answer").replaceChildren(...parts);
}

function complain(words) {
  byId("answer").replaceChildren(make("p", { class: "error", role: "alert" }, words));
}

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("answer").setAttribute("aria-busy", "true");
  try {
    const response = await fetch("predict", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question()),
    });
    const reply = await response.json();
    if (response.ok) show(reply);
    else complain(reply.detail);
  } catch (error) {
    complain(`The server does not answer: ${error.message}`);
  }
  byId("answer").setAttribute("aria-busy", "false");
});
document.documentElement.dataset.ready = "true";
