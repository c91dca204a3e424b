// The subtitle of the page, and the scores per level.

function subtitle() {
  const { data, hierarchy, model, wraps } = facts.setting;
  const kind = hierarchy.is_tree ? (hierarchy.depth > 1 ? "tree" : "flat set") : "graph";
  return [
    [model, ...wraps].join(" › "),
    plural(data.rows, "row"),
    plural(data.labels, "label"),
    `${kind} of ${plural(hierarchy.nodes, "node")}, ${plural(hierarchy.depth, "level")}`,
    facts.made.slice(0, 10),
  ].join(" · ");
}

function levelSection() {
  if (facts.levels.length < 2) return null;
  const ece = new Map((facts.calibration?.levels ?? []).map((each) => [each.level, each.ece]));
  const bases = BASELINES.filter((base) => base.levels);
  const rows = facts.levels.map((each, place) => [
    each.level,
    count(each.nodes),
    count(each.rows),
    h("span", { class: "with-bar" }, bar(each.accuracy), number(each.accuracy)),
    interval(each) ?? NONE,
    ...bases.map((base) => number(base.levels[place])),
    number(each.f1),
    number(ece.get(each.level)),
  ]);
  const titles = [
    "level",
    "nodes",
    "rows",
    "accuracy",
    "interval",
    ...bases.map((base) => base.title),
    "F1",
    "calibration error",
  ];
  return section(
    "levels",
    "Scores by level",
    h(
      "p",
      { class: "lead" },
      "Level 1 is directly below the root. A row is correct at a level if the true and the predicted node at that level are the same.",
    ),
    table(titles, rows, { label: "Accuracy by level", numeric: titles.map((_, k) => k).slice(1) }),
  );
}
