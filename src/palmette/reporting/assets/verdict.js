// The verdict, and the headline scores with what they are compared with.

const BASELINES = facts.baselines ?? [];

// A sentence whose numbers stay on the line of their percent sign.
const unbroken = (text) => text.replaceAll(" %", "\u00a0%");

function verdictBlock() {
  if (!facts.verdict) return null;
  return h("p", { class: "verdict", id: "verdict" }, unbroken(facts.verdict));
}

// "flat linear .696" for one score; cross-validated ones come with this model's own.
function baselineLine(base, name) {
  const value = base.scores[name];
  const own = base.own?.[name];
  const crossed = base.measured === "cross-validation" && isNumber(value);
  return h(
    "li",
    {},
    h("span", {}, crossed ? `${base.title}*` : base.title),
    h("b", {}, isNumber(value) ? number(value) : NONE),
    crossed && isNumber(own)
      ? [h("span", { class: "inset" }, "this model there*"), h("b", {}, number(own))]
      : null,
  );
}

function figureCard(each) {
  const bounded = each.name !== "tree_induced_error";
  const range = interval(each);
  return h(
    "div",
    { class: "card" },
    h("h3", {}, each.title),
    h("p", { class: "value" }, number(each.value)),
    range ? h("p", { class: "range" }, range) : null,
    bounded ? whisker(each) : null,
    BASELINES.length
      ? h(
          "ul",
          { class: "against", "aria-label": `${each.title} of baselines` },
          BASELINES.map((base) => baselineLine(base, each.name)),
        )
      : null,
    h("p", { class: "words" }, each.words, each.higher_is_better ? "" : " Lower is better."),
  );
}

// A bar from 0 to the value on a scale that ends at 1, with the interval and the baselines on top.
function whisker(each) {
  const x = (value) => 100 * Math.max(0, Math.min(1, value ?? 0));
  const marks = BASELINES.filter((base) => base.measured === "report")
    .map((base) => base.scores[each.name])
    .filter(isNumber);
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
    marks.map((value) => s("rect", { class: "base", x: x(value), y: 0, width: 0.6, height: 8 })),
  );
}

function baselineNotes() {
  if (!BASELINES.length) return null;
  return h(
    "ul",
    { class: "plain small muted" },
    BASELINES.map((base) =>
      h(
        "li",
        {},
        h("b", {}, base.title, base.measured === "cross-validation" ? "*" : "", ": "),
        base.words,
      ),
    ),
  );
}

function headlineSection() {
  const { bootstrap, setting } = facts;
  const { rows_with_unseen_labels: unseen, rows_left_out: left } = setting.data;
  const odd = facts.figures.length % 2 ? "cards odd" : "cards";
  return section(
    "figures",
    "Scores",
    verdictBlock(),
    h("div", { class: odd }, facts.figures.map(figureCard)),
    baselineNotes(),
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
          `Ranges are ${percent(bootstrap.confidence, 0)} intervals: Wilson's for shares of rows, for other scores those of ${count(bootstrap.resamples)} bootstrap resamples of the rows (seed ${bootstrap.seed}). If all resamples agree, the range is widened by the share of differing rows that so few rows cannot rule out.`,
        )
      : null,
  );
}
