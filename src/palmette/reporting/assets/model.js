// The model: features, training curve, parameters, versions.

function featureBlock() {
  const found = facts.features;
  if (!found || !found.overall.length) return null;
  const selected = found.kind === "selected";
  return h(
    "div",
    { class: "block" },
    h(
      "h3",
      {},
      selected ? "Features by number of nodes that selected them" : "Most important features",
    ),
    h(
      "p",
      { class: "muted small" },
      `${count(found.n_chosen)} of ${plural(found.n_features, "feature")} are used${found.nodes.length ? "; select a node in the class tree to see its features" : ""}.`,
    ),
    featureList(found.overall.slice(0, 20)),
  );
}

function curveFigure() {
  const { series } = facts.training ?? { series: [] };
  if (!series.length) return null;
  const values = series.flatMap((each) => each.values).filter(isNumber);
  const rounds = series.flatMap((each) => each.rounds);
  const chart = {
    title: "Training curve",
    words: `Over ${plural(facts.training.n_rounds, "round")}.`,
    x: { min: 1, max: Math.max(2, ...rounds), title: "round" },
    y: { min: Math.min(0, ...values), max: Math.max(...values), title: series[0].name },
    series: series.map((each) => ({
      name: each.name,
      dots: false,
      points: each.rounds.map((round, k) => [round, each.values[k]]),
    })),
  };
  const rows = series[0].rounds.map((round, k) => [
    round,
    ...series.map((each) => number(each.values[k], 4)),
  ]);
  return figure(chart, ["round", ...series.map((each) => each.name)], rows);
}

// Values of any form as words: lists with commas, pairs of a name and a value with dots.
function valueText(value) {
  if (value === null || value === undefined || value === "") return NONE;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length ? value.map(valueText).join(", ") : "none";
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([name, each]) => `${name}: ${valueText(each)}`);
    return parts.length ? parts.join(" · ") : "none";
  }
  return Number.isInteger(value) ? count(value) : String(value);
}

const FIT_TITLES = {
  rows: "training rows",
  rows_without_target: "rows without a target, left out",
  text: "features of texts",
  learnt_hierarchy: "learner of the hierarchy",
  calibrate: "calibration",
  coverage: "conformal coverage",
  fit_seconds: "seconds of the final fit",
  seconds: "seconds in all",
  seed: "random seed",
  when: "fitted at",
};
// shown elsewhere on the page
const NOT_IN_DETAILS = new Set(["leaderboard", "class_rows", "hierarchy"]);
const wordsOf = (name) => FIT_TITLES[name] ?? name.replaceAll("_", " ");

function fitDetails(fitted) {
  return Object.entries(fitted)
    .filter(([name]) => !NOT_IN_DETAILS.has(name))
    .map(([name, value]) => [
      wordsOf(name),
      name === "when" && typeof value === "string"
        ? value.replace("T", " ").replace("+00:00", " UTC")
        : value,
    ]);
}

function listOf(pairs) {
  return h(
    "dl",
    { class: "setting" },
    pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, valueText(value)))),
  );
}

// What figures rest on; those of fewer rows or folds than the winner's are in tables of their own.
function basisText({ folds, rows }, isFirst) {
  const fitted = isNumber(rows) ? `, fitted on ${plural(rows, "row")}` : "";
  const over = folds > 1 ? `Over ${folds} folds` : isFirst ? "On 1 fold" : "On 1 fold only";
  const end = isFirst ? (folds > 1 && fitted ? " each." : ".") : ": not to be compared with the figures above.";
  return `${over}${fitted}${end}`;
}

function leaderboardBlocks(entries, winner) {
  const blocks = new Map();
  for (const row of entries.filter((each) => each.folds !== 0)) {
    const key = `${row.folds} ${row.rows}`;
    blocks.set(key, [...(blocks.get(key) ?? []), row]);
  }
  const isOther = (rows) => Number(rows.every((row) => row.model !== winner));
  return [...blocks.values()].sort((a, b) => isOther(a) - isOther(b));
}

function leaderboard(entries, winner) {
  const reasons = new Map();
  for (const row of entries)
    if (row.folds === 0)
      reasons.set(String(row.note), [...(reasons.get(String(row.note)) ?? []), String(row.model)]);
  return [
    leaderboardBlocks(entries, winner).map((rows, place) => [
      h("p", { class: "small" }, basisText(rows[0], place === 0)),
      leaderboardTable(rows),
    ]),
    h(
      "ul",
      { class: "plain small muted" },
      [...reasons].map(([why, names]) => h("li", {}, `Not tried: ${names.join(", ")} (${why}).`)),
    ),
  ];
}

// Shows columns of numbers and texts, without lists, flags and empty columns.
function leaderboardTable(rows) {
  const isShown = (value) => isNumber(value) || (typeof value === "string" && value !== "");
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (title) => title !== "folds" && title !== "rows" && rows.some((row) => isShown(row[title])),
  );
  const cell = (value, title) => {
    if (!isShown(value)) return NONE;
    if (!isNumber(value)) return value;
    return title.endsWith("seconds")
      ? number(value, 1)
      : Number.isInteger(value) && title !== "accuracy" && !title.endsWith("f1")
        ? count(value)
        : number(value, 4);
  };
  const isNumeric = (title) => rows.some((row) => isNumber(row[title]));
  return table(
    titles.map((title) => title.replaceAll("_", " ").replace("f1", "F1")),
    rows.map((row) => titles.map((title) => cell(row[title], title))),
    {
      label: "Leaderboard",
      class: "wide",
      numeric: titles.map((_, place) => place).filter((place) => isNumeric(titles[place])),
    },
  );
}

function fittedBlock() {
  const { fitted } = facts.setting;
  if (!fitted) return null;
  const { leaderboard: board } = fitted;
  const isBoard =
    Array.isArray(board) && board.length && board.every((row) => row && typeof row === "object");
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Fit"),
    isBoard
      ? h("p", { class: "muted small" }, "Models that competed in the fit, with their cross-validated scores.")
      : null,
    isBoard ? leaderboard(board, fitted.winner ?? fitted.model) : null,
    h(
      "details",
      { open: !isBoard },
      h("summary", {}, "Details of the fit"),
      listOf(fitDetails(fitted)),
    ),
  );
}

function modelSection() {
  const { setting } = facts;
  const parts = [featureBlock(), curveFigure()].filter(Boolean);
  return section(
    "model",
    "Model and data",
    parts.length ? h("div", { class: "columns" }, parts) : null,
    fittedBlock(),
    h(
      "div",
      { class: "block" },
      h(
        "details",
        {},
        h("summary", {}, `Parameters of ${setting.wraps.at(-1) ?? setting.model}`),
        listOf(Object.entries(setting.parameters)),
      ),
      h(
        "details",
        {},
        h("summary", {}, "Data, hierarchy and versions"),
        listOf(
          [
            ...Object.entries(setting.data),
            ...Object.entries(setting.hierarchy),
            ...Object.entries(setting.versions),
          ].map(([name, value]) => [name.replaceAll("_", " "), value]),
        ),
      ),
    ),
  );
}
