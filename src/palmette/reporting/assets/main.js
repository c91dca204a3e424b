// Assembles the page.

const HEADER = 64; // pixels that the links on top may cover, as in report.css

function treeSection() {
  const panel = h(
    "aside",
    { class: "panel", id: "panel", "aria-label": "Selected node" },
    h(
      "p",
      { class: "muted hint" },
      "Select a node of the tree to see its scores, its confusions and example errors.",
    ),
  );
  const choose = (node) => {
    tree.choose(node);
    panel.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const announcement = h("p", { class: "unseen-by-eye", role: "status" }); // for screen readers
  const isNarrow = matchMedia("(max-width: 52rem)"); // the panel is below the tree
  const tree = createTree((node) => {
    showNode(panel, node, choose);
    announcement.textContent = `${nameOf(node)}: F1 ${number(nodes.f1[node])}, ${plural(nodes.support[node], "row")}`;
    if (isNarrow.matches) panel.scrollIntoView({ block: "nearest" });
  });
  const matchCount = h("output", { class: "found-count", for: "search" });
  const showMatches = (text) => {
    const { at, of } = tree.place();
    matchCount.textContent = text ? (of ? `${count(at)} of ${count(of)}` : "none found") : "";
  };
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search classes",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search classes by name",
    oninput: () => {
      tree.search(input.value);
      showMatches(input.value);
      showHit();
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    },
  });
  const step = (by) => {
    tree.next(by);
    showMatches(input.value);
    showHit();
  };
  // The tree has scrolled to its hit; the page follows if the hit is not in the window.
  const showHit = () => {
    const hit = tree.place().of ? tree.view.querySelector(".row.active") : null;
    if (!hit) return;
    const isInView = () => {
      const { top, bottom } = hit.getBoundingClientRect();
      return top >= HEADER && bottom <= innerHeight;
    };
    if (!isInView()) tools.scrollIntoView({ block: "start", behavior: "instant" });
    if (!isInView()) hit.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const key = h("div", { class: "scale" });
  const valueTitle = h("span", { class: "row-value" });
  const head = h(
    "div",
    { class: "tree-head", "aria-hidden": "true" },
    h("span", { class: "row-name" }, "class"),
    h("span", { class: "row-leaves" }, "leaves"),
    valueTitle,
    h("span", { class: "row-support" }, "rows"),
  );
  const colourBy = (name) => {
    tree.colour(name);
    drawKey(key, name);
    valueTitle.textContent = COLOURINGS[name].heading;
  };
  const select = h(
    "select",
    { id: "colour", onchange: () => colourBy(select.value) },
    Object.entries(COLOURINGS)
      .filter(([name]) => name !== "confidence" || facts.calibration)
      .map(([name, each]) => h("option", { value: name }, each.title)),
  );
  colourBy("f1");
  const button = (text, label, act) =>
    h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const tools = h(
    "div",
    { class: "tools" },
    h("span", { class: "search" }, input, matchCount),
    button("‹", "Previous match", () => step(-1)),
    button("›", "Next match", () => step(1)),
    h("label", { class: "field" }, "colour by ", select),
    button("Expand all", "Expand all", () => tree.openAll()),
    button("Collapse all", "Collapse all", () => tree.closeAll()),
  );
  const element = section(
    "tree",
    "Class tree",
    tools,
    key,
    h("div", { class: "tree-and-panel" }, h("div", {}, head, tree.view, announcement), panel),
  );
  return { element, begin: tree.begin, choose };
}

function drawKey(key, name) {
  const { bounds, scale: letter, title } = COLOURINGS[name];
  const steps = [0, ...bounds];
  key.replaceChildren(
    h("span", { class: "muted" }, title),
    ...steps.map((bound, place) =>
      h(
        "span",
        { class: "step" },
        h("span", { class: `swatch ${letter}${place}` }),
        place ? `≥ ${bound}` : name === "support" ? "none" : `< ${bounds[0]}`,
      ),
    ),
    name === "support"
      ? ""
      : h("span", { class: "step" }, h("span", { class: "swatch none" }), "no rows"),
  );
}

function themeButton() {
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => (dark() ? "Light" : "Dark");
  const button = h("button", {
    type: "button",
    class: "theme",
    onclick: () => {
      root.dataset.theme = dark() ? "light" : "dark";
      button.textContent = label();
    },
  });
  button.textContent = label();
  return button;
}

const SHORT_TITLES = {
  acceptance: "Acceptance",
  levels: "Levels",
  classes: "Labels",
  review: "Review",
  model: "Model",
};

function header(sections) {
  const links = sections.map((each) =>
    h("a", { href: `#${each.id}` }, SHORT_TITLES[each.id] ?? each.querySelector("h2").textContent),
  );
  return [
    h(
      "div",
      { class: "masthead" },
      h("p", { class: "eyebrow" }, "Palmette report"),
      h("h1", {}, facts.title),
      h("p", { class: "subtitle" }, subtitle()),
    ),
    h("nav", { "aria-label": "Sections" }, h("div", { class: "links" }, links), themeButton()),
  ];
}

const tree = treeSection();
const jump = (node) => {
  if (node === 0) return; // the tree does not show the root
  document.getElementById("tree").scrollIntoView({ block: "start", behavior: "instant" });
  tree.choose(node);
};
const sections = [
  versusSection(jump),
  headlineSection(),
  acceptanceSection(jump),
  levelSection(),
  classSection(jump),
  tree.element,
  errorSection(jump),
  reviewSection(jump),
  confidenceSection(),
  modelSection(),
].filter(Boolean);
document.getElementById("top").append(...header(sections));
document.getElementById("main").append(...sections);
tree.begin();
document.documentElement.dataset.ready = "true";
