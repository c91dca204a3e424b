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

function valueText(value) {
  if (value === null) return NONE;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function listOf(pairs) {
  return h(
    "dl",
    { class: "setting" },
    pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, valueText(value)))),
  );
}

// Shows columns of numbers and texts, without lists, flags and empty columns.
function leaderboard(rows) {
  const isShown = (value) => isNumber(value) || (typeof value === "string" && value !== "");
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((title) =>
    rows.some((row) => isShown(row[title])),
  );
  const cell = (value) =>
    !isShown(value)
      ? NONE
      : isNumber(value) && !Number.isInteger(value)
        ? number(value, 4)
        : String(value);
  return table(
    titles.map((title) => title.replaceAll("_", " ")),
    rows.map((row) => titles.map((title) => cell(row[title]))),
    { label: "Leaderboard", class: "wide" },
  );
}

function fittedBlock() {
  const { fitted } = facts.setting;
  if (!fitted) return null;
  const { leaderboard: board, ...rest } = fitted;
  const isBoard =
    Array.isArray(board) && board.length && board.every((row) => row && typeof row === "object");
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Fit"),
    isBoard ? leaderboard(board) : null,
    h(
      "details",
      { open: !isBoard },
      h("summary", {}, "Details of the fit"),
      listOf(Object.entries(isBoard ? rest : fitted)),
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
