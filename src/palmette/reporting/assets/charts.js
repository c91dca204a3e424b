// Charts as inline SVG, each with a title, a description and a table of the same values.

const BOX = { width: 380, height: 260, left: 56, right: 12, top: 12, bottom: 40 };

function scale(from, to, low, high, log = false) {
  if (log) {
    const inner = scale(Math.log10(from), Math.log10(to), low, high);
    return (value) => inner(Math.log10(value));
  }
  const span = to - from || 1;
  return (value) => low + ((value - from) / span) * (high - low);
}

function niceTicks(low, high, wanted = 5) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((each) => each >= raw);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1)
    ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

const tickText = (value) =>
  Math.abs(value) >= 1000 ? short(value) : String(Number(value.toPrecision(3)));

let chartCount = 0;

function axes(chart, x, y) {
  const { width, height, left, right, top, bottom } = BOX;
  const parts = [];
  for (const tick of niceTicks(chart.y.min, chart.y.max)) {
    parts.push(s("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }));
    parts.push(
      s(
        "text",
        { class: "tick", x: left - 6, y: y(tick) + 4, "text-anchor": "end" },
        tickText(tick),
      ),
    );
  }
  for (const tick of chart.x.ticks ?? niceTicks(chart.x.min, chart.x.max)) {
    parts.push(
      s(
        "text",
        { class: "tick", x: x(tick), y: height - bottom + 16, "text-anchor": "middle" },
        tickText(tick),
      ),
    );
  }
  const middle = (left + width - right) / 2;
  parts.push(
    s("line", {
      class: "axis",
      x1: left,
      x2: width - right,
      y1: height - bottom,
      y2: height - bottom,
    }),
    s(
      "text",
      { class: "axis-title", x: middle, y: height - 6, "text-anchor": "middle" },
      chart.x.title,
    ),
    s(
      "text",
      {
        class: "axis-title",
        transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle",
      },
      chart.y.title,
    ),
  );
  return parts;
}

// chart: title, words, x and y ({min, max, title, ticks, log}), series, diagonal
// series: name, points ([x, y, size, what describe gets]), dots and line (false for none)
function lineChart(chart) {
  const { width, height, left, right, top, bottom } = BOX;
  const x = scale(chart.x.min, chart.x.max, left, width - right, chart.x.log);
  const y = scale(chart.y.min, chart.y.max, height - bottom, top);
  chartCount += 1;
  const ids = [`chart-${chartCount}-title`, `chart-${chartCount}-words`];
  const lines = chart.series.map((series, place) => {
    const points = series.points.filter(([a, b]) => isNumber(a) && isNumber(b));
    const path = points.map(
      ([a, b], at) => `${at ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`,
    );
    const dots = points.map(([a, b, size, node]) =>
      s(
        "circle",
        { cx: x(a), cy: y(b), r: size ?? 2.6 },
        s("title", {}, series.describe?.(a, b, node) ?? `${tickText(a)}, ${tickText(b)}`),
      ),
    );
    return s(
      "g",
      { class: series.line === false ? `line line-${place} scatter` : `line line-${place}` },
      series.line === false ? null : s("path", { d: path.join("") }),
      series.dots === false ? null : dots,
    );
  });
  const diagonal = chart.diagonal
    ? s("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) })
    : null;
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": ids.join(" ") },
    s("title", { id: ids[0] }, chart.title),
    s("desc", { id: ids[1] }, chart.words),
    axes(chart, x, y),
    diagonal,
    lines,
  );
}

function legend(series) {
  if (series.length < 2) return null;
  return h(
    "ul",
    { class: "legend" },
    series.map((each, place) => h("li", {}, h("span", { class: `key line-${place}` }), each.name)),
  );
}

// A chart with its legend, its caption and a table of its values.
function figure(chart, titles, rows) {
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("strong", {}, chart.title),
      chart.words ? h("span", {}, " ", chart.words) : null,
    ),
    lineChart(chart),
    legend(chart.series),
    h(
      "details",
      {},
      h("summary", {}, "As a table"),
      table(titles, rows, { label: chart.title, numeric: titles.map((_, place) => place) }),
    ),
  );
}
