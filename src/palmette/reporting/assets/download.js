// Tables of rows as CSV files, made in the page: nothing is requested.

// as in palmette/_text.py: a spreadsheet would read such a cell as a formula
const FORMULA = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/;
const NUMBER = /^[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?%?$/;

function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && FORMULA.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The first character says that the file is UTF-8, which spreadsheets do not guess.
const csvOf = (titles, rows) =>
  `\ufeff${[titles, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;

const fileName = (word) =>
  `${facts.title.replace(/[^\p{L}\p{N}.-]+/gu, "_").slice(0, 60) || "report"}_${word}.csv`;

// A button that saves a table; a notebook's frame does not allow downloads.
function saveButton(text, word, titles, rows) {
  if (window.self !== window.top) return null;
  const save = () => {
    const url = URL.createObjectURL(
      new Blob([csvOf(titles, rows())], { type: "text/csv;charset=utf-8" }),
    );
    const link = h("a", { href: url, download: fileName(word) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  return h("button", { type: "button", class: "save", onclick: save }, text);
}

const pathsText = (labels) => labels.map(pathText).join("; ");

function errorDownload() {
  const { examples } = facts;
  if (!examples.length) return null;
  const { wrong } = facts.errors;
  const whole = examples.length >= wrong;
  const text = whole
    ? `Download the ${plural(wrong, "error")} (CSV)`
    : `Download ${count(examples.length)} of ${count(wrong)} errors (CSV)`;
  const titles = ["row", "text", "true label", "predicted label", "confidence"];
  const rows = () =>
    examples.map((each) => [
      each.name,
      each.text,
      pathsText(each.true),
      pathsText(each.predicted),
      each.confidence,
    ]);
  return saveButton(text, "errors", titles, rows);
}
