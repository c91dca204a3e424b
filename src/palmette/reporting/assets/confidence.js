// How far the model's confidence can be trusted: reliability, coverage, conformal answers.

const UNIT = { min: 0, max: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };

function reliabilityFigure() {
  const { of, answer, levels } = facts.calibration;
  const what = of === "rows" ? "answers" : "cells of rows and nodes";
  const curves =
    levels.length > 1
      ? levels.slice(0, 4).map((each) => [`level ${each.level}`, each])
      : [["all", answer]];
  const chart = {
    title: "Reliability",
    words: `Share of ${what} that are true against the confidence in them. On the dotted line confidence is what it says.`,
    x: { ...UNIT, title: "confidence" },
    y: { ...UNIT, title: "share true" },
    diagonal: true,
    series: curves.map(([name, curve]) => {
      const size = (bin) => 2 + 3 * Math.sqrt(bin.count / Math.max(curve.count, 1)); // more rows, larger dots
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
  const rows = [["whole answers", answer], ...levels.map((each) => [`level ${each.level}`, each])];
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
    ["deepest", "deepest node that is sure enough"],
    ["whole", "whole answers"],
  ];
  const all = kinds.flatMap(([key]) => points.map((point) => point[key].accuracy)).filter(isNumber);
  const low = Math.floor(10 * Math.min(0.9, ...all)) / 10;
  const chart = {
    title: "Accuracy against coverage",
    words:
      "As the confidence asked for rises, fewer rows are answered and more of the answers are true.",
    x: { ...UNIT, title: "share of rows answered" },
    y: { min: low, max: 1, title: "share of answers true" },
    series: kinds.map(([key, name]) => ({
      name,
      points: points.map((point) => [point[key].coverage, point[key].accuracy]),
      tell: (a, b) => `${percent(a)} answered, ${percent(b)} true`,
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
    ["confidence", "answered (deepest)", "true", "mean depth", "answered (whole)", "true"],
    rows,
  );
}

function recallFigure() {
  const { points } = facts.coverage;
  const chart = {
    title: "Precision against recall",
    words: "As the confidence asked for rises, fewer nodes are told and more of them are true.",
    x: { ...UNIT, title: "recall" },
    y: { ...UNIT, title: "precision" },
    series: [{ name: "nodes", points: points.map((point) => [point.recall, point.precision]) }],
  };
  return figure(
    chart,
    ["confidence", "precision", "recall"],
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
    h("h3", {}, "Conformal answers"),
    h(
      "p",
      { class: "lead" },
      "Answers made to hold the truth as often as was asked for, and how often they do on the rows of this report.",
    ),
    table(["answer", "asked for", "hold the truth", "interval", "mean size", "mean depth"], rows, {
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
