// Rows for people: labels that look wrong, and the least certain answers.

function suspectItem(each, choose) {
  const example = facts.examples[each.example];
  const given = isNumber(each.given) ? ` (probability ${number(each.given, 2)})` : "";
  const sure = isNumber(example.confidence) ? ` (${number(example.confidence, 2)})` : "";
  return h(
    "li",
    {},
    h("p", { class: "row-text" }, example.text || h("span", { class: "muted" }, "(empty row)")),
    h(
      "p",
      { class: "row-labels" },
      h("span", { class: "muted" }, `row ${example.name} · given `),
      pathLinks(example.true, choose),
      h("span", { class: "muted" }, `${given} · rather `),
      pathLinks(example.predicted, choose),
      h(
        "span",
        { class: "muted" },
        sure,
        isNumber(each.distance) ? ` · ${plural(each.distance, "edge")} apart` : "",
      ),
    ),
  );
}

function pathLinks(labels, choose) {
  if (!labels.length) return h("span", { class: "muted" }, "nothing");
  return labels.map((node, place) => [place ? ", " : "", nodeLink(node, choose, pathText(node))]);
}

function unsureItem(example, choose) {
  return h(
    "li",
    {},
    h("p", { class: "row-text" }, example.text || h("span", { class: "muted" }, "(empty row)")),
    h(
      "p",
      { class: "row-labels" },
      h("span", { class: "muted" }, `row ${example.name} · predicted `),
      pathLinks(example.predicted, choose),
      h(
        "span",
        { class: "muted" },
        isNumber(example.confidence) ? ` (${number(example.confidence, 2)})` : "",
        example.right ? " · right" : " · true ",
      ),
      example.right ? null : pathLinks(example.true, choose),
    ),
  );
}

// The first items of a list; the others are folded.
function foldedList(items, make, shown, words) {
  return [
    h("ul", { class: "examples" }, items.slice(0, shown).map(make)),
    items.length > shown
      ? h(
          "details",
          {},
          h("summary", {}, words(items.length - shown)),
          h("ul", { class: "examples" }, items.slice(shown).map(make)),
        )
      : null,
  ];
}

function suspectDownload() {
  const { suspects } = facts.review;
  const titles = ["row", "text", "given label", "its probability", "predicted label", "confidence", "edges apart"];
  const rows = () =>
    suspects.map((each) => {
      const example = facts.examples[each.example];
      return [
        example.name,
        example.text,
        pathsText(example.true),
        each.given,
        pathsText(example.predicted),
        example.confidence,
        each.distance,
      ];
    });
  return saveButton(`Download these ${plural(suspects.length, "row")} (CSV)`, "review", titles, rows);
}

function reviewSection(choose) {
  const found = facts.review;
  if (!found || !(found.suspects.length || found.unsure.length)) return null;
  return section(
    "review",
    "Rows to review first",
    h(
      "div",
      { class: "columns" },
      found.suspects.length
        ? h(
            "div",
            { class: "block" },
            h("h3", {}, "Labels that look wrong"),
            h(
              "p",
              { class: "muted small" },
              `The model is confident of an answer that is far from the given label: the more probable the answer and the further away in the tree, the higher a row is listed.`,
            ),
            foldedList(
              found.suspects,
              (each) => suspectItem(each, choose),
              8,
              (n) => `${plural(n, "more row")}`,
            ),
            suspectDownload(),
          )
        : null,
      found.unsure.length
        ? h(
            "div",
            { class: "block" },
            h("h3", {}, "Least certain answers"),
            h(
              "p",
              { class: "muted small" },
              "Rows for which the answer is expected to be furthest from the truth, right or wrong.",
            ),
            foldedList(
              found.unsure,
              (each) => unsureItem(each, choose),
              8,
              (n) => `${plural(n, "more row")}`,
            ),
          )
        : null,
    ),
  );
}
