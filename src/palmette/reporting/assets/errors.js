// Errors by kind, by level and by node.

const KINDS = facts.setting.data.several_paths
  ? [
      ["right", "correct"],
      ["other_branch", "missed and false labels"],
      ["short", "missed labels only"],
      ["beyond", "false labels only"],
    ]
  : [
      ["right", "correct"],
      ["other_branch", "in another branch"],
      ["short", "ended too early"],
      ["beyond", "ended too deep"],
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
    ["level of first error", "rows", "share of errors"],
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

function divergenceTable(choose) {
  const { node, rows, ...kinds } = facts.errors.by_node;
  const titles = { confused: "wrong child", short: "ended here", beyond: "continued" };
  const found = Object.keys(titles).filter((key) => kinds[key].some((n) => n > 0));
  const there = found.length > 1 ? found : []; // a single kind would repeat the column of errors
  const shown = node
    .slice(0, 12)
    .map((each, k) => [
      nodeLink(each, choose, labelOf(each)),
      count(rows[k]),
      ...there.map((key) => count(kinds[key][k])),
    ]);
  return [
    table(["node", "errors", ...there.map((key) => titles[key])], shown, {
      label: "Where paths diverge",
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

// Leaves with the most missed rows.
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
    h("h3", {}, "Leaves with the most errors"),
    table(["leaf", "missed", "rows", "recall", "precision"], rows, {
      label: "Leaves with the most errors",
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
    "Errors",
    h(
      "p",
      { class: "lead" },
      `${plural(wrong, "row")} of ${count(rows)} ${wrong === 1 ? "is" : "are"} predicted wrongly.`,
    ),
    kindBar(),
    errorDownload(),
    wrong
      ? h(
          "div",
          { class: "columns" },
          h(
            "div",
            {},
            h("div", { class: "block" }, h("h3", {}, "Level of the first error"), levelTable()),
            worstLeaves(choose),
          ),
          h(
            "div",
            { class: "block" },
            h("h3", {}, "Where paths diverge"),
            h(
              "p",
              { class: "muted small" },
              single
                ? "The lowest common ancestor of the true and the predicted node: correct down to this node, wrong below."
                : "Correct nodes with wrong children. A row may count at several nodes.",
            ),
            divergenceTable(choose),
          ),
        )
      : null,
    siblingBlock(choose),
    pairList(choose),
  );
}
