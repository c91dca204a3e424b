// What could be accepted automatically at the chosen precision, and what goes to people.

const ACCEPTED = [
  ["complete", "accepted as predicted", "right"],
  ["coarser", "accepted with a coarser answer", "short"],
  ["people", "to people", "other_branch"],
];

function shareStrip(found) {
  const total = Math.max(found.count, 1);
  const numbers = {
    complete: found.whole.count,
    coarser: found.accepted.count - found.whole.count,
    people: found.people,
  };
  const there = ACCEPTED.filter(([key]) => numbers[key] > 0);
  const strip = h("div", { class: "strip", "aria-hidden": "true" });
  for (const [key, , kind] of there) {
    const part = h("span", { class: `kind-${kind}` });
    part.style.flexGrow = String(numbers[key]);
    strip.append(part);
  }
  const words = there.map(([key, title, kind]) =>
    h(
      "li",
      {},
      h("span", { class: `key kind-${kind}` }),
      `${title} `,
      h("b", {}, percent(numbers[key] / total, 0)),
      h("span", { class: "muted" }, ` ${count(numbers[key])}`),
    ),
  );
  return h("div", {}, strip, h("ul", { class: "legend" }, words));
}

function answerTitle(each) {
  if (each.level === null) return "predicted labels";
  return each.complete ? `complete, level ${each.level}` : `coarser, level ${each.level}`;
}

const whichPrecision = (each) =>
  isNumber(each.precision)
    ? `${percent(each.precision)} (${percent(each.low)} – ${percent(each.high)})`
    : NONE;

function acceptanceSection(choose) {
  const found = facts.acceptance;
  if (!found || !found.count) return null;
  const what = found.of === "rows" ? "rows" : "predicted labels";
  const unreliable = found.unreliable.map((node, place) => [
    place ? ", " : "",
    nodeLink(node, choose, labelOf(node)),
  ]);
  return section(
    "acceptance",
    "Automatic acceptance",
    h(
      "p",
      { class: "lead" },
      `Which ${what} could be accepted without a check if ${percent(found.precision, 0)} of what is accepted has to be right. `,
      `Measured precision: ${whichPrecision(found.accepted)}.`,
    ),
    shareStrip(found),
    h(
      "div",
      { class: "block" },
      h("h3", {}, "Thresholds by level"),
      table(
        ["answer", "probability from", what, "share", "measured precision (interval)"],
        found.answers.map((each) => [
          answerTitle(each),
          number(each.threshold),
          count(each.count),
          percent(each.share),
          whichPrecision(each),
        ]),
        { label: "Thresholds by level", numeric: [1, 2, 3, 4] },
      ),
      h(
        "p",
        { class: "muted small" },
        "Complete: the prediction as it is, by the level at which it ends. Coarser: “at or below this node of the predicted path”, where the complete prediction is not accepted. Numbers and precisions are measured on rows that did not choose the thresholds: those of each half of the rows come from the other half. The thresholds shown are chosen on all rows; apply them to the probabilities that `palmette predict` writes.",
      ),
      unreliable.length
        ? h(
            "details",
            {},
            h(
              "summary",
              {},
              `${plural(unreliable.length, "label is", "labels are")} never accepted as a complete answer: even their most confident predictions are too often wrong`,
            ),
            h("p", { class: "small" }, unreliable),
          )
        : null,
    ),
    h(
      "div",
      { class: "block" },
      h("h3", {}, "At other precisions"),
      table(
        ["precision asked for", "as predicted", "coarser answer", "to people", "measured precision"],
        found.points.map((each) => [
          percent(each.precision, 0),
          h("span", { class: "with-bar" }, bar(each.complete), percent(each.complete)),
          percent(each.coarser),
          percent(each.people),
          isNumber(each.measured) ? percent(each.measured) : NONE,
        ]),
        { label: "Acceptance at other precisions", numeric: [1, 2, 3, 4] },
      ),
    ),
  );
}
