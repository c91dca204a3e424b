// The top of the page: subtitle, headline scores, scores per level.

function subtitle() {
  const { data, hierarchy, model, wraps } = facts.setting;
  const kind = hierarchy.is_tree ? (hierarchy.depth > 1 ? "tree" : "flat set") : "graph";
  return [
    [model, ...wraps].join(" › "),
    plural(data.rows, "row"),
    plural(data.labels, "label"),
    `${kind} of ${plural(hierarchy.nodes, "class", "classes")}, ${plural(hierarchy.depth, "level")}`,
    facts.made.slice(0, 10),
  ].join(" · ");
}

function figureCard(each, isFirst) {
  const bounded = each.name !== "tree_induced_error";
  const range = interval(each);
  return h(
    "div",
    { class: isFirst ? "card first" : "card" },
    h("h3", {}, each.title),
    h("p", { class: "value" }, number(each.value)),
    range ? h("p", { class: "range" }, range) : null,
    bounded ? whisker(each) : null,
    h("p", { class: "words" }, each.words, each.higher_is_better ? "" : " Lower is better."),
  );
}

// A bar from 0 to the value on a scale that ends at 1, with the interval on top.
function whisker(each) {
  const x = (value) => 100 * Math.max(0, Math.min(1, value ?? 0));
  return s(
    "svg",
    { class: "whisker", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "track", x: 0, y: 2, width: 100, height: 4 }),
    s("rect", { class: "reach", x: 0, y: 2, width: x(each.value), height: 4 }),
    isNumber(each.low)
      ? s("rect", {
          class: "band",
          x: x(each.low),
          y: 0,
          width: Math.max(0.5, x(each.high) - x(each.low)),
          height: 8,
        })
      : null,
  );
}

function headlineSection() {
  const { bootstrap, setting } = facts;
  const { rows_with_unseen_labels: unseen, rows_left_out: left } = setting.data;
  return section(
    "figures",
    "Scores",
    h(
      "div",
      { class: "cards" },
      facts.figures.map((each, place) => figureCard(each, place === 0)),
    ),
    unseen
      ? h(
          "p",
          { class: "note" },
          `${plural(unseen, "row has", "rows have")} a label that the model has never seen; they count as wrong.`,
        )
      : null,
    left
      ? h(
          "p",
          { class: "note" },
          `${plural(left, "row")} of the table ${left === 1 ? "has" : "have"} no known label and ${left === 1 ? "is" : "are"} left out.`,
        )
      : null,
    bootstrap.resamples
      ? h(
          "p",
          { class: "muted small" },
          `Ranges are ${percent(bootstrap.confidence, 0)} bootstrap intervals from ${count(bootstrap.resamples)} resamples of the rows (seed ${bootstrap.seed}).`,
        )
      : null,
  );
}

function levelSection() {
  if (facts.levels.length < 2) return null;
  const ece = new Map((facts.calibration?.levels ?? []).map((each) => [each.level, each.ece]));
  const rows = facts.levels.map((each) => [
    each.level,
    count(each.nodes),
    count(each.rows),
    h("span", { class: "with-bar" }, bar(each.accuracy), number(each.accuracy)),
    interval(each) ?? NONE,
    number(each.f1),
    number(ece.get(each.level)),
  ]);
  return section(
    "levels",
    "Scores by level",
    h(
      "p",
      { class: "lead" },
      "Level 1 is directly below the root. A row is correct at a level if the true and the predicted node at that level are the same.",
    ),
    table(["level", "nodes", "rows", "accuracy", "interval", "F1", "calibration error"], rows, {
      label: "Accuracy by level",
      numeric: [1, 2, 3, 4, 5, 6],
    }),
  );
}
