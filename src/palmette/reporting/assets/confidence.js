// Confidence of the model: reliability, coverage, conformal predictions.

const UNIT = { min: 0, max: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };

function reliabilityFigure() {
  const { of, words, answer, levels } = facts.calibration;
  const what = of === "rows" ? "predictions" : "likely pairs of a row and a node";
  const curves =
    levels.length > 1
      ? levels.slice(0, 4).map((each) => [`level ${each.level}`, each])
      : [["all", answer]];
  const chart = {
    title: "Reliability",
    words: `Share of ${what} that are true, by their confidence. A perfectly calibrated model is on the dotted line. ${words}`,
    x: { ...UNIT, title: "confidence" },
    y: { ...UNIT, title: "share true" },
    diagonal: true,
    series: curves.map(([name, curve]) => {
      const size = (bin) => 2 + 3 * Math.sqrt(bin.count / Math.max(curve.count, 1)); // area grows with the number of rows
      return { name, points: curve.bins.map((bin) => [bin.confidence, bin.accuracy, size(bin)]) };
    }),
  };
  const rows = curves.flatMap(([name, curve]) =>
    curve.bins.map((bin) => [
      name,
      `${number(bin.low, 1)} – ${number(bin.high, 1)}`,
      count(bin.count),
      number(bin.confidence),
      number(bin.accuracy),
    ]),
  );
  return figure(chart, ["", "confidence", of, "mean confidence", "share true"], rows);
}

function calibrationTable() {
  const { of, answer, levels } = facts.calibration;
  const rows = [["complete predictions", answer], ...levels.map((each) => [`level ${each.level}`, each])];
  return table(
    ["", of, "expected calibration error"],
    rows.map(([name, each]) => [
      name,
      count(each.count),
      h("span", { class: "with-bar" }, bar((each.ece ?? 0) * 4, "bad"), number(each.ece)),
    ]),
    { label: "Expected calibration error", numeric: [1, 2] },
  );
}

function coverageFigure() {
  const { points } = facts.coverage;
  const kinds = [
    ["deepest", "deepest node above the threshold"],
    ["whole", "complete predictions"],
  ];
  // without a threshold the deepest node is any leaf, however unlikely
  const shown = (key) => points.filter((point) => key === "whole" || point.threshold > 0);
  const all = kinds.flatMap(([key]) => shown(key).map((point) => point[key].accuracy)).filter(isNumber);
  const low = Math.floor(10 * Math.min(0.9, ...all)) / 10;
  const chart = {
    title: "Accuracy and coverage",
    words:
      "With a higher confidence threshold, fewer rows get a prediction and more of the predictions are true.",
    x: { ...UNIT, title: "coverage: share of rows with a prediction" },
    y: { min: low, max: 1, title: "accuracy of the predictions" },
    series: kinds.map(([key, name]) => ({
      name,
      points: shown(key).map((point) => [point[key].coverage, point[key].accuracy]),
      describe: (a, b) => `coverage ${percent(a)}, accuracy ${percent(b)}`,
    })),
  };
  const rows = points.map((point) => [
    number(point.threshold, 2),
    percent(point.deepest.coverage),
    percent(point.deepest.accuracy),
    number(point.deepest.mean_depth, 2),
    percent(point.whole.coverage),
    percent(point.whole.accuracy),
  ]);
  return figure(
    chart,
    [
      "threshold",
      "coverage (deepest)",
      "accuracy (deepest)",
      "mean depth",
      "coverage (complete)",
      "accuracy (complete)",
    ],
    rows,
  );
}

function recallFigure() {
  const { points } = facts.coverage;
  const chart = {
    title: "Precision and recall",
    words: "With a higher confidence threshold, fewer nodes are predicted and more of them are true.",
    x: { ...UNIT, title: "recall" },
    y: { ...UNIT, title: "precision" },
    series: [{ name: "nodes", points: points.map((point) => [point.recall, point.precision]) }],
  };
  return figure(
    chart,
    ["threshold", "precision", "recall"],
    points.map((point) => [
      number(point.threshold, 2),
      number(point.precision),
      number(point.recall),
    ]),
  );
}

function conformalBlock() {
  if (!facts.conformal) return null;
  const rows = facts.conformal.answers.map((each) => [
    each.title,
    percent(each.target),
    percent(each.coverage),
    isNumber(each.low) ? `${percent(each.low)} – ${percent(each.high)}` : NONE,
    number(each.mean_size, 2),
    number(each.mean_depth, 2),
  ]);
  const sizes = facts.conformal.sizes;
  const most = Math.max(1, ...sizes.map((each) => each.rows));
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Conformal predictions"),
    h(
      "p",
      { class: "lead" },
      "Predictions that are meant to contain the true label with the target probability, and their coverage on the rows of this report.",
    ),
    table(["prediction", "target", "coverage", "interval", "mean size", "mean depth"], rows, {
      label: "Conformal coverage",
      numeric: [1, 2, 3, 4, 5],
    }),
    sizes.length
      ? table(
          ["size of the set", "rows"],
          sizes.map((each) => [
            each.low === each.high ? count(each.low) : `${count(each.low)} – ${count(each.high)}`,
            h("span", { class: "with-bar" }, bar(each.rows / most), count(each.rows)),
          ]),
          { label: "Sizes of the sets", numeric: [1] },
        )
      : null,
  );
}

function confidenceSection() {
  if (!facts.calibration && !facts.conformal) return null;
  return section(
    "confidence",
    "Confidence",
    facts.calibration
      ? h(
          "div",
          { class: "columns" },
          reliabilityFigure(),
          facts.coverage.of === "rows" ? coverageFigure() : recallFigure(),
        )
      : null,
    facts.calibration
      ? h("div", { class: "block" }, h("h3", {}, "Calibration by level"), calibrationTable())
      : null,
    conformalBlock(),
  );
}
