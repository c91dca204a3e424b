// The most confused pairs of labels, with example rows.

function pairList(choose) {
  const shown = facts.confusions.slice(0, 30);
  if (!shown.length) return null;
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Most confused pairs"),
    h(
      "ol",
      { class: "pairs" },
      shown.map((pair) =>
        h(
          "li",
          {},
          h(
            "details",
            {},
            h(
              "summary",
              {},
              h("b", { class: "n" }, count(pair.rows)),
              h(
                "span",
                {},
                h("span", { class: "pair-name" }, pathText(pair.true)),
                h("span", { class: "muted" }, " predicted as "),
                h("span", { class: "pair-name" }, pathText(pair.predicted)),
              ),
            ),
            exampleList(
              pair.examples.map((place) => facts.examples[place]),
              choose,
            ),
          ),
        ),
      ),
    ),
  );
}
