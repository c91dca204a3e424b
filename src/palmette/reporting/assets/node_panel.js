// Details of one node: scores, confusions, example errors, features.

const featuresAt = new Map((facts.features?.nodes ?? []).map((each) => [each.node, each]));
const divergenceAt = new Map(facts.errors.by_node.node.map((node, place) => [node, place]));

function nodeLink(node, choose, text = nameOf(node)) {
  if (node === 0) return h("span", {}, text); // the tree does not show the root
  return h(
    "button",
    { type: "button", class: "link", title: pathText(node), onclick: () => choose(node) },
    text,
  );
}

function breadcrumb(node, choose) {
  const above = pathTo(nodes.parent[node]);
  return h(
    "p",
    { class: "crumbs" },
    above.length
      ? above.map((at) => [nodeLink(at, choose), h("span", { "aria-hidden": "true" }, " › ")])
      : "At the top level",
  );
}

function figuresOf(node) {
  const rows = [
    ...(nodes.train ? [["Training rows", count(nodes.train[node])]] : []),
    ["Rows", count(nodes.support[node])],
    ["Predicted", count(nodes.predicted[node])],
    ["Correct", count(nodes.correct[node])],
    ["Precision", number(nodes.precision[node])],
    ["Recall", number(nodes.recall[node])],
    ["F1", number(nodes.f1[node])],
    ["Confidence", number(nodes.confidence[node])],
  ];
  if (children[node].length) rows.push(["Leaves below", count(leavesBelow[node])]);
  return h(
    "dl",
    { class: "figures" },
    rows.map(([title, value]) => h("div", {}, h("dt", {}, title), h("dd", {}, value))),
  );
}

// Siblings that are predicted in place of the node, and siblings that it is predicted for.
function confusionsOf(node, choose) {
  const { true: truth, predicted, rows } = facts.errors.siblings;
  const found = [];
  for (let k = 0; k < rows.length; k += 1) {
    if (truth[k] === node) found.push(["predicted as ", predicted[k], rows[k]]);
    if (predicted[k] === node) found.push(["predicted instead of ", truth[k], rows[k]]);
  }
  found.sort((a, b) => b[2] - a[2]);
  return found
    .slice(0, 8)
    .map(([words, other, n]) =>
      h("li", {}, words, nodeLink(other, choose), h("span", { class: "muted" }, ` ${count(n)}`)),
    );
}

function divergenceText(node) {
  const place = divergenceAt.get(node);
  if (place === undefined) return null;
  const { rows, confused, short: stopped, beyond } = facts.errors.by_node;
  const parts = [
    confused[place] && `${count(confused[place])} with a wrong child`,
    stopped[place] && `${count(stopped[place])} ended here`,
    beyond[place] && `${count(beyond[place])} continued below the true node`,
  ].filter(Boolean);
  return h(
    "p",
    {},
    `${plural(rows[place], "error starts", "errors start")} directly below this node: ${parts.join(", ")}.`,
  );
}

const involves = (example, node) =>
  [...example.true, ...example.predicted].some((other) => isBelow(other, node));

function exampleList(examples, choose) {
  return h(
    "ul",
    { class: "examples" },
    examples.map((example) =>
      h(
        "li",
        {},
        h("p", { class: "row-text" }, example.text || h("span", { class: "muted" }, "(empty row)")),
        h(
          "p",
          { class: "row-labels" },
          h("span", { class: "muted" }, `row ${example.name} · true `),
          labelList(example.true, choose),
          h("span", { class: "muted" }, " · predicted "),
          labelList(example.predicted, choose),
          isNumber(example.confidence)
            ? h("span", { class: "muted" }, ` · confidence ${number(example.confidence, 2)}`)
            : null,
        ),
      ),
    ),
  );
}

function labelList(labels, choose) {
  if (!labels.length) return h("span", { class: "muted" }, "nothing");
  return labels.map((node, place) => [place ? ", " : "", nodeLink(node, choose, labelOf(node))]);
}

function featureList(features) {
  const largest = Math.max(...features.map(([, value]) => value), 1e-12);
  return h(
    "ol",
    { class: "features" },
    features.map(([name, value]) =>
      h(
        "li",
        {},
        h("span", { class: "feature" }, name),
        bar(value / largest),
        h("span", { class: "n" }, String(value)),
      ),
    ),
  );
}

function showNode(panel, node, choose) {
  const parts = [
    h(
      "p",
      { class: "eyebrow" },
      children[node].length ? `Level ${depth[node]} · inner node` : `Level ${depth[node]} · leaf`,
    ),
    h("h3", {}, nameOf(node)),
    breadcrumb(node, choose),
    isUnseen.has(node) ? h("p", { class: "note" }, "The model has never seen this class.") : null,
    nodes.more_parents?.[node]?.length
      ? h("p", { class: "crumbs" }, "also a child of ", labelList(nodes.more_parents[node], choose))
      : null,
    figuresOf(node),
    divergenceText(node),
  ];
  const confusions = confusionsOf(node, choose);
  if (confusions.length)
    parts.push(h("h4", {}, "Confused with"), h("ul", { class: "plain" }, confusions));
  const examples = facts.examples.filter((example) => involves(example, node)).slice(0, 5);
  if (examples.length)
    parts.push(h("h4", {}, "Example errors"), exampleList(examples, choose));
  const chosen = featuresAt.get(node);
  if (chosen?.features.length) {
    const title =
      facts.features.kind === "selected"
        ? `Features selected at this node (${count(chosen.count)})`
        : "Most important features at this node";
    parts.push(h("h4", {}, title), featureList(chosen.features));
  }
  panel.replaceChildren(...parts.filter(Boolean));
  panel.scrollTop = 0;
}
