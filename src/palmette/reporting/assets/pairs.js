// The most confused pairs of labels, with example rows: ten of them, the others folded.

const PAIRS_SHOWN = 10;

function pairItem(pair, choose) {
  return h(
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
  );
}

function pairList(choose) {
  const pairs = facts.confusions;
  if (!pairs.length) return null;
  const list = (part, start = 1) =>
    h("ol", { class: "pairs", start }, part.map((pair) => pairItem(pair, choose)));
  const rest = pairs.slice(PAIRS_SHOWN);
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Most confused pairs"),
    list(pairs.slice(0, PAIRS_SHOWN)),
    rest.length
      ? h(
          "details",
          { class: "more-pairs" },
          h("summary", {}, plural(rest.length, "more pair")),
          list(rest, PAIRS_SHOWN + 1),
        )
      : null,
  );
}
