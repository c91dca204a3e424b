// The distribution of the labels, and F1 by their number of training rows.

const MOST_POINTS = 1500;

function sizesOf(found) {
  return found.source === "training" ? found.train : found.rows;
}

const whichRows = (found) => (found.source === "training" ? "training rows" : "rows here");

const groupTitle = (each) =>
  each.high === null
    ? `${count(each.low)} and more`
    : each.high === each.low
      ? count(each.low)
      : `${count(each.low)} – ${count(each.high)}`;

function classPoints(found) {
  const sizes = sizesOf(found);
  const points = found.node
    .map((node, place) => [Math.max(sizes[place], 0.5), found.f1[place], 2.6, node])
    .filter(([, score]) => isNumber(score));
  const step = Math.ceil(points.length / MOST_POINTS);
  return { step, points: points.filter((_, place) => place % step === 0) };
}

function classFigure(found) {
  const { step, points } = classPoints(found);
  if (points.length < 3) return null;
  const largest = Math.max(10, ...points.map(([size]) => size));
  const ticks = [];
  for (let tick = 1; tick <= largest * 1.01; tick *= 10) ticks.push(tick);
  const means = found.groups
    .filter((each) => isNumber(each.f1))
    .map((each) => [
      Math.max(0.5, Math.sqrt(Math.max(each.low, 0.5) * Math.min(each.high ?? largest, largest))),
      each.f1,
    ]);
  const chart = {
    title: `F1 by number of ${whichRows(found)}`,
    words: `One dot per label that occurs in the rows of the report${step > 1 ? `, every ${step}th of them` : ""}. The line is the mean of the groups in the table.`,
    x: { min: 0.5, max: largest, ticks, log: true, title: `${whichRows(found)} of the label` },
    y: { min: 0, max: 1, title: "F1 of the label" },
    series: [
      {
        name: "labels",
        line: false,
        points,
        describe: (a, b, node) =>
          `${pathText(node)}: ${count(a < 1 ? 0 : a)} ${whichRows(found)}, F1 ${number(b)}`,
      },
      { name: "mean of the group", points: means },
    ],
  };
  return figure(
    chart,
    [whichRows(found), "labels", "mean F1"],
    found.groups.map((each) => [groupTitle(each), count(each.labels), number(each.f1)]),
  );
}

function groupTable(found) {
  return table(
    [whichRows(found), "labels", "rows here", "accuracy", "mean F1"],
    found.groups.map((each) => [
      groupTitle(each),
      count(each.labels),
      count(each.rows),
      number(each.accuracy),
      h("span", { class: "with-bar" }, bar(each.f1), number(each.f1)),
    ]),
    { label: "F1 by number of rows", numeric: [1, 2, 3, 4] },
  );
}

function largestTable(found, choose) {
  const known = found.source === "training";
  const here = found.rows.reduce((sum, n) => sum + n, 0);
  const most = known ? found.train[0] / Math.max(found.total, 1) : found.rows[0] / Math.max(here, 1);
  const shareCell = (n, total) =>
    h(
      "span",
      { class: "with-bar" },
      bar(n / Math.max(total, 1) / Math.max(most, 1e-9)),
      percent(n / Math.max(total, 1)),
    );
  const row = (node, place) => [
    nodeLink(node, choose, labelOf(node)),
    ...(known
      ? [count(found.train[place]), shareCell(found.train[place], found.total)]
      : []),
    count(found.rows[place]),
    known ? percent(found.rows[place] / Math.max(here, 1)) : shareCell(found.rows[place], here),
    number(found.f1[place]),
  ];
  const titles = [
    "label",
    ...(known ? ["training rows", "share"] : []),
    "rows here",
    known ? "share here" : "share",
    "F1",
  ];
  const rows = found.node.slice(0, 40).map(row);
  const make = (part, label) =>
    table(titles, part, { label, numeric: titles.map((_, k) => k).slice(1) });
  return [
    make(rows.slice(0, 10), "Largest labels"),
    rows.length > 10
      ? h(
          "details",
          {},
          h("summary", {}, `The next ${count(rows.length - 10)} of ${count(found.labels)} labels`),
          make(rows.slice(10), "More labels"),
        )
      : null,
  ];
}

function classSection(choose) {
  const found = facts.classes;
  if (!found || !found.node.length) return null;
  const rare = found.groups.filter((each) => each.high !== null && each.high < 20);
  const nRare = rare.reduce((sum, each) => sum + each.labels, 0);
  const words = [
    `${plural(found.labels, "label")}; half of the ${count(found.total)} ${whichRows(found)} have one of the ${count(found.half)} most frequent.`,
    nRare ? ` ${plural(nRare, "label has", "labels have")} fewer than 20.` : "",
    found.source === "training"
      ? ""
      : " The model file does not tell the numbers of training rows: labels are counted in the rows of the report.",
  ];
  return section(
    "classes",
    "Labels and their rows",
    h("p", { class: "lead" }, words),
    h(
      "div",
      { class: "columns" },
      classFigure(found),
      h(
        "div",
        { class: "block" },
        h("h3", {}, "Labels in groups"),
        groupTable(found),
      ),
    ),
    h("div", { class: "block" }, h("h3", {}, "Largest labels"), largestTable(found, choose)),
  );
}
