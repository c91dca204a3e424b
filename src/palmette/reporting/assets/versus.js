// Two models on the same rows.

function signed(value, digits = 3) {
  if (!isNumber(value)) return NONE;
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : (value > 0 ? "+" : "−") + text;
}

function differenceCell(each) {
  const better = each.higher_is_better ? each.difference > 0 : each.difference < 0;
  const clear = isNumber(each.low) && (each.low > 0 || each.high < 0);
  return h(
    "span",
    { class: clear ? (better ? "better" : "worse") : null },
    signed(each.difference),
    isNumber(each.low) ? ` (${signed(each.low)} to ${signed(each.high)})` : "",
  );
}

function versusFigures(found) {
  const [first, second] = found.names;
  const rows = found.figures.map((each) => [
    each.title + (each.higher_is_better ? "" : " (lower is better)"),
    number(each.first),
    number(each.second),
    differenceCell(each),
  ]);
  const [a, b] = found.accepted;
  if (a && b)
    rows.push(
      [
        `Accepted automatically at ${percent(a.asked, 0)} precision, as predicted`,
        percent(a.complete),
        percent(b.complete),
        `${signed(100 * (b.complete - a.complete), 1)} points`,
      ],
      [
        "The same with coarser answers",
        percent(a.share),
        percent(b.share),
        `${signed(100 * (b.share - a.share), 1)} points`,
      ],
    );
  return table(["", first, second, "difference (interval)"], rows, {
    label: "Scores of both models",
    numeric: [1, 2, 3],
    class: "scores",
  });
}

function agreement(found) {
  const [first, second] = found.names;
  const kinds = [
    ["both", "both right", "right"],
    ["only_second", `only ${second} right`, "short"],
    ["only_first", `only ${first} right`, "beyond"],
    ["neither", "both wrong", "other_branch"],
  ];
  const strip = h("div", { class: "strip", "aria-hidden": "true" });
  for (const [key, , kind] of kinds) {
    const part = h("span", { class: `kind-${kind}` });
    part.style.flexGrow = String(found.right[key]);
    if (found.right[key]) strip.append(part);
  }
  return h(
    "div",
    {},
    strip,
    h(
      "ul",
      { class: "legend" },
      kinds.map(([key, title, kind]) =>
        h("li", {}, h("span", { class: `key kind-${kind}` }), `${title} `, h("b", {}, count(found.right[key]))),
      ),
    ),
  );
}

function changedTable(found, sign, choose) {
  const { classes, names } = found;
  const places = classes.node
    .map((_, k) => k)
    .filter((k) => (classes.f1_second[k] - classes.f1_first[k]) * sign > 0);
  if (!places.length) return h("p", { class: "muted" }, "none");
  const row = (k) => [
    nodeLink(classes.node[k], choose, labelOf(classes.node[k])),
    count(classes.rows[k]),
    count(classes.gained[k]),
    count(classes.lost[k]),
    h(
      "span",
      { class: classes.clear[k] ? (sign > 0 ? "better" : "worse") : null },
      `${number(classes.f1_first[k], 2)} → ${number(classes.f1_second[k], 2)}`,
    ),
  ];
  const titles = ["label", "rows", `only ${names[1]}`, `only ${names[0]}`, "F1"];
  const make = (part, label) => table(titles, part, { label, numeric: [1, 2, 3, 4] });
  const rows = places.slice(0, 60).map(row);
  return [
    make(rows.slice(0, 10), sign > 0 ? "Better labels" : "Worse labels"),
    rows.length > 10
      ? h(
          "details",
          {},
          h("summary", {}, `${count(rows.length - 10)} more of ${count(places.length)}`),
          make(rows.slice(10), "More labels"),
        )
      : null,
  ];
}

function differingBlock(found, choose) {
  const [first, second] = found.names;
  const groups = [
    [`only ${second} is right`, (each) => each.right[1] && !each.right[0]],
    [`only ${first} is right`, (each) => each.right[0] && !each.right[1]],
    ["both are wrong", (each) => !each.right[0] && !each.right[1]],
  ]
    .map(([title, test]) => [title, found.rows.filter(test)])
    .filter(([, rows]) => rows.length);
  if (!groups.length) return null;
  const place = h("div", {});
  const confidence = (each, k) =>
    isNumber(each.confidence[k]) ? ` (${number(each.confidence[k], 2)})` : "";
  const item = (each) =>
    h(
      "li",
      {},
      h("p", { class: "row-text" }, each.text || h("span", { class: "muted" }, "(empty row)")),
      h(
        "p",
        { class: "row-labels" },
        h("span", { class: "muted" }, `row ${each.name} · true `),
        pathLinks(each.true, choose),
        h("span", { class: "muted" }, ` · ${first} `),
        pathLinks(each.first, choose),
        h("span", { class: "muted" }, `${confidence(each, 0)} · ${second} `),
        pathLinks(each.second, choose),
        h("span", { class: "muted" }, confidence(each, 1)),
      ),
    );
  const show = (k) =>
    place.replaceChildren(
      ...foldedList(groups[k][1].slice(0, 100), item, 8, (n) => plural(n, "more row")).filter(Boolean),
    );
  const select = h(
    "select",
    { id: "differing", onchange: (event) => show(Number(event.target.value)) },
    groups.map(([title, rows], k) => h("option", { value: k }, `${title} (${count(rows.length)})`)),
  );
  show(0);
  const titles = ["row", "text", "true label", first, second, `confidence of ${first}`, `confidence of ${second}`, "right"];
  const rows = () =>
    found.rows.map((each) => [
      each.name,
      each.text,
      pathsText(each.true),
      pathsText(each.first),
      pathsText(each.second),
      ...each.confidence,
      each.right[0] ? first : each.right[1] ? second : "",
    ]);
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Rows for which they differ"),
    h("p", { class: "field" }, h("label", { for: "differing" }, "where "), select),
    place,
    found.n_differing > found.rows.length
      ? h(
          "p",
          { class: "muted small" },
          `${count(found.n_differing)} rows differ; the ${count(found.rows.length)} most confident are in the report.`,
        )
      : null,
    saveButton(`Download ${plural(found.rows.length, "row")} (CSV)`, "differences", titles, rows),
  );
}

function versusSection(choose) {
  const found = facts.versus;
  if (!found) return null;
  const { p_value: p } = found.right;
  return section(
    "versus",
    "Two models",
    h("p", { class: "verdict" }, unbroken(found.verdict)),
    versusFigures(found),
    h(
      "p",
      { class: "muted small" },
      `Differences are ${found.names[1]} minus ${found.names[0]}, on the same rows; intervals are paired bootstrap intervals, and those without 0 are coloured. McNemar's exact test of equal accuracy: ${p < 0.001 ? "p < .001" : `p = ${number(p)}`}.`,
    ),
    h("div", { class: "block" }, h("h3", {}, "Who is right"), agreement(found)),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "block" },
        h("h3", {}, `Better with ${found.names[1]} (${plural(found.classes.better, "label")})`),
        changedTable(found, 1, choose),
      ),
      h(
        "div",
        { class: "block" },
        h("h3", {}, `Worse with ${found.names[1]} (${plural(found.classes.worse, "label")})`),
        changedTable(found, -1, choose),
      ),
    ),
    h(
      "p",
      { class: "muted small" },
      "Numbers are rows that only one of the models gets right. Coloured changes remain clear after a correction for the number of labels.",
    ),
    differingBlock(found, choose),
    h("p", { class: "note" }, `All sections below are about ${found.names[0]}.`),
  );
}
