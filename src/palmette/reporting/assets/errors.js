// Where errors go: of what kind, at which level, below which nodes.

const KINDS = facts.setting.data.several_paths
  ? [
      ["right", "all right"],
      ["other_branch", "some missed and some false"],
      ["short", "some missed only"],
      ["beyond", "some false only"],
    ]
  : [
      ["right", "right"],
      ["other_branch", "took another branch"],
      ["short", "stopped short"],
      ["beyond", "went too far"],
    ];

function kindBar() {
  const { kinds, rows } = facts.errors;
  const there = KINDS.filter(([key]) => kinds[key] > 0);
  const strip = h("div", { class: "strip", "aria-hidden": "true" });
  for (const [key] of there) {
    const part = h("span", { class: `kind-${key}` });
    part.style.flexGrow = String(kinds[key]);
    strip.append(part);
  }
  const words = there.map(([key, title]) =>
    h(
      "li",
      {},
      h("span", { class: `key kind-${key}` }),
      `${title} `,
      h("b", {}, count(kinds[key])),
      h("span", { class: "muted" }, ` ${percent(kinds[key] / rows)}`),
    ),
  );
  return h("div", {}, strip, h("ul", { class: "legend" }, words));
}

function levelTable() {
  const { by_level: levels, wrong } = facts.errors;
  return table(
    ["first error at level", "rows", "of all errors"],
    levels.map((each) => [
      each.level,
      count(each.rows),
      h(
        "span",
        { class: "with-bar" },
        bar(each.rows / Math.max(wrong, 1), "bad"),
        percent(each.rows / Math.max(wrong, 1)),
      ),
    ]),
    { label: "Errors by level", numeric: [1, 2] },
  );
}

function partingTable(choose) {
  const { node, rows, ...kinds } = facts.errors.by_node;
  const titles = { confused: "another child", short: "stopped here", beyond: "went on" };
  const found = Object.keys(titles).filter((key) => kinds[key].some((n) => n > 0));
  const there = found.length > 1 ? found : []; // one kind alone would repeat the errors
  const shown = node
    .slice(0, 12)
    .map((each, k) => [
      nodeLink(each, choose, labelOf(each)),
      count(rows[k]),
      ...there.map((key) => count(kinds[key][k])),
    ]);
  return [
    table(["node", "errors", ...there.map((key) => titles[key])], shown, {
      label: "Where paths part",
      numeric: [1, 2, 3, 4],
    }),
    node.length > shown.length
      ? h(
          "p",
          { class: "muted small" },
          `${count(node.length - shown.length)} more nodes: see the class tree.`,
        )
      : null,
  ];
}

// Leaves whose rows go elsewhere most often.
function worstLeaves(choose) {
  const missed = (node) => nodes.support[node] - nodes.correct[node];
  const leaves = nodes.name
    .map((_, node) => node)
    .filter((node) => node && !children[node].length && missed(node));
  leaves.sort((a, b) => missed(b) - missed(a) || a - b);
  if (!leaves.length) return null;
  const rows = leaves
    .slice(0, 12)
    .map((node) => [
      nodeLink(node, choose, labelOf(node)),
      count(missed(node)),
      count(nodes.support[node]),
      number(nodes.recall[node]),
      number(nodes.precision[node]),
    ]);
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Leaves with most errors"),
    table(["leaf", "missed", "rows", "recall", "precision"], rows, {
      label: "Leaves with most errors",
      numeric: [1, 2, 3, 4],
    }),
    leaves.length > rows.length
      ? h(
          "p",
          { class: "muted small" },
          `${count(leaves.length - rows.length)} more leaves have errors.`,
        )
      : null,
  );
}

function errorSection(choose) {
  const { wrong, rows } = facts.errors;
  const single = !facts.setting.data.several_paths;
  return section(
    "errors",
    "Where errors go",
    h(
      "p",
      { class: "lead" },
      `${plural(wrong, "row")} of ${count(rows)} ${wrong === 1 ? "is" : "are"} not exactly right.`,
    ),
    kindBar(),
    wrong
      ? h(
          "div",
          { class: "columns" },
          h(
            "div",
            {},
            h("div", { class: "block" }, h("h3", {}, "How deep errors begin"), levelTable()),
            worstLeaves(choose),
          ),
          h(
            "div",
            { class: "block" },
            h("h3", {}, "Where paths part"),
            h(
              "p",
              { class: "muted small" },
              single
                ? "The lowest common ancestor of truth and answer: right down to here, wrong below."
                : "Nodes that are right while children of theirs are wrong; a row may count at several.",
            ),
            partingTable(choose),
          ),
        )
      : null,
    siblingBlock(choose),
    pairList(choose),
  );
}
