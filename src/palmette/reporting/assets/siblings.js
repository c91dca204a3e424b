// Confusion matrix of the children of one node, coloured by the number of rows.

const MOST_SHOWN = 14;

function families() {
  const { parent, rows } = facts.errors.siblings;
  const total = new Map();
  parent.forEach((node, k) => total.set(node, (total.get(node) ?? 0) + rows[k]));
  return [...total].sort((a, b) => b[1] - a[1]);
}

function confusionOf(family) {
  const { parent, true: truth, predicted, rows } = facts.errors.siblings;
  const cells = new Map();
  const weight = new Map();
  for (let k = 0; k < rows.length; k += 1) {
    if (parent[k] !== family) continue;
    cells.set(`${truth[k]},${predicted[k]}`, rows[k]);
    for (const node of [truth[k], predicted[k]])
      weight.set(node, (weight.get(node) ?? 0) + rows[k]);
  }
  const shown = [...weight]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_SHOWN)
    .map(([node]) => node);
  return { cells, shown: shown.sort((a, b) => a - b), left: weight.size - shown.length };
}

function heat(family, choose) {
  const { cells, shown, left } = confusionOf(family);
  const largest = Math.max(1, ...cells.values());
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "true ╲ predicted"),
    shown.map((node) =>
      h(
        "th",
        { scope: "col", class: "turned" },
        h("span", { title: pathText(node) }, nameOf(node)),
      ),
    ),
  );
  const body = shown.map((truth) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, nodeLink(truth, choose)),
      shown.map((guess) => {
        const n = truth === guess ? nodes.correct[truth] : (cells.get(`${truth},${guess}`) ?? 0);
        const strength = truth === guess || !n ? null : Math.min(4, Math.ceil((4 * n) / largest));
        return h(
          "td",
          {
            class: [
              "n",
              truth === guess ? "diagonal" : "",
              strength ? `heat-${strength}` : "",
            ].join(" "),
          },
          n ? count(n) : "",
        );
      }),
    ),
  );
  return [
    scrollFrame(
      `Confusion below ${nameOf(family)}`,
      h("table", { class: "heat" }, h("thead", {}, head), h("tbody", {}, body)),
    ),
    left > 0
      ? h(
          "p",
          { class: "muted small" },
          `${plural(left, "more child", "more children")} with fewer errors ${left === 1 ? "is" : "are"} not shown.`,
        )
      : null,
  ];
}

function siblingBlock(choose) {
  const list = families();
  if (!list.length) return null;
  const place = h("div", {});
  const show = (family) => place.replaceChildren(...heat(family, choose).filter(Boolean));
  const select = h(
    "select",
    { id: "family", onchange: (event) => show(Number(event.target.value)) },
    list
      .slice(0, 100)
      .map(([node, rows]) => h("option", { value: node }, `${pathText(node)} (${count(rows)})`)),
  );
  show(list[0][0]);
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Confusion between siblings"),
    h("p", { class: "field" }, h("label", { for: "family" }, "below "), select),
    place,
  );
}
