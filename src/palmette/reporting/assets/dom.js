// Elements and number formats. Text is inserted as text nodes only, never as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG_SPACE, tag), attributes, children);

const counted = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const NONE = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const number = (value, digits = 3) => (isNumber(value) ? value.toFixed(digits) : NONE);
const count = (value) => (isNumber(value) ? counted.format(value) : NONE);
const short = (value) => (isNumber(value) ? compact.format(value) : NONE);
const percent = (value, digits = 1) =>
  isNumber(value) ? `${(100 * value).toFixed(digits)} %` : NONE;
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : (many ?? one + "s")}`;
const interval = (each, digits = 3) =>
  isNumber(each.low) ? `${number(each.low, digits)} – ${number(each.high, digits)}` : null;

// A frame that scrolls sideways, so that the page itself never does; it says so where it is cut.
const watcher =
  typeof ResizeObserver === "function"
    ? new ResizeObserver((entries) => entries.forEach(({ target }) => markScroll(target)))
    : null;

function markScroll(frame) {
  const hidden = frame.scrollWidth - frame.clientWidth;
  const box = frame.parentElement;
  box.classList.toggle("cut", hidden > 1);
  box.classList.toggle("more-left", frame.scrollLeft > 1);
  box.classList.toggle("more-right", frame.scrollLeft < hidden - 1);
}

function scrollFrame(label, content) {
  const frame = h(
    "div",
    {
      class: "table-frame",
      tabindex: "0",
      role: "region",
      "aria-label": label,
      onscroll: () => markScroll(frame),
    },
    content,
  );
  watcher?.observe(frame);
  return h(
    "div",
    { class: "table-box" },
    h("p", { class: "scroll-hint", "aria-hidden": "true" }, "scroll sideways for all columns ⇄"),
    frame,
  );
}

// A table in its own scrolling frame.
function table(titles, rows, options = {}) {
  const numeric = new Set(options.numeric ?? []);
  const cell = (tag, value, place) =>
    h(tag, { class: numeric.has(place) ? "n" : null, scope: tag === "th" ? "col" : null }, value);
  return scrollFrame(
    options.label,
    h(
      "table",
      { class: options.class },
      options.caption ? h("caption", {}, options.caption) : null,
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          titles.map((title, place) => cell("th", title, place)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((value, place) => cell("td", value, place)),
          ),
        ),
      ),
    ),
  );
}

// A horizontal bar; its length is set through the DOM, which the content security policy allows.
function bar(share, className) {
  const inner = h("span", { class: `bar-fill ${className ?? ""}` });
  inner.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

function section(id, title, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    ...children,
  );
}
