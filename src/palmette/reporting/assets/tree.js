// The class tree: only the rows in view are in the page, so that 100,000 nodes stay fast.

const ROW = 32; // height of a row in pixels, as in report.css
const EXTRA = 8; // rows drawn above and below the view

function createTree(onChoose) {
  const state = {
    open: new Set([0]),
    visible: [],
    active: 0,
    chosen: null,
    colour: "f1",
    found: [],
    at: -1,
    query: "",
  };
  const isFound = new Set();
  const spacer = h("div", { class: "tree-spacer" });
  const view = h("div", {
    class: "tree",
    role: "tree",
    tabindex: "0",
    "aria-label": "Class tree",
    onkeydown: onKey,
    onclick: onClick,
    onscroll: draw,
  });
  view.append(spacer);
  let drawAll = false;

  // ------------------------------------------------------------ what is visible

  function lay() {
    const visible = [];
    const stack = [...children[0]].reverse();
    while (stack.length) {
      const node = stack.pop();
      visible.push(node);
      if (state.open.has(node))
        for (let k = children[node].length - 1; k >= 0; k -= 1) stack.push(children[node][k]);
    }
    state.visible = visible;
    spacer.style.height = `${visible.length * ROW}px`;
    draw();
  }

  function draw() {
    const height = view.clientHeight || 480;
    const first = drawAll ? 0 : Math.max(0, Math.floor(view.scrollTop / ROW) - EXTRA);
    const last = drawAll
      ? Math.min(state.visible.length, 400)
      : Math.min(state.visible.length, Math.ceil((view.scrollTop + height) / ROW) + EXTRA);
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(row(state.visible[place], place));
    spacer.replaceChildren(...rows);
    const active = document.getElementById(`node-${state.active}`);
    if (active) view.setAttribute("aria-activedescendant", active.id);
    else view.removeAttribute("aria-activedescendant");
  }

  function row(node, place) {
    const family = children[nodes.parent[node]];
    const inner = children[node].length > 0;
    const open = state.open.has(node);
    const colouring = COLOURINGS[state.colour];
    const element = h(
      "div",
      {
        id: `node-${node}`,
        class: [
          "row",
          node === state.active && "active",
          node === state.chosen && "chosen",
          isFound.has(node) && "found",
        ]
          .filter(Boolean)
          .join(" "),
        role: "treeitem",
        "data-node": node,
        "aria-level": depth[node],
        "aria-setsize": family.length,
        "aria-posinset": family.indexOf(node) + 1,
        "aria-expanded": inner ? String(open) : null,
        "aria-selected": String(node === state.chosen),
      },
      h(
        "span",
        { class: inner ? "twist" : "twist leaf", "aria-hidden": "true" },
        inner ? (open ? "▾" : "▸") : "",
      ),
      h("span", { class: `swatch ${colourClass(node, state.colour)}`, "aria-hidden": "true" }),
      h("span", { class: "row-name", title: pathText(node) }, marked(nodes.name[node])),
      inner
        ? h("span", { class: "row-leaves", "aria-hidden": "true" }, count(leavesBelow[node]))
        : null,
      h(
        "span",
        { class: "row-value" },
        h("span", { class: "unseen-by-eye" }, `, ${colouring.title} `),
        colouring.text(colouring.value(node)),
      ),
      h(
        "span",
        { class: "row-support" },
        h("span", { class: "unseen-by-eye" }, ", "),
        short(nodes.support[node]),
        h("span", { class: "unseen-by-eye" }, " rows"),
      ),
    );
    element.style.transform = `translateY(${place * ROW}px)`;
    element.style.paddingInlineStart = `${6 + (depth[node] - 1) * indent()}px`;
    return element;
  }

  const indent = () => (view.clientWidth < 480 ? 11 : 18);

  function marked(name) {
    const query = state.query;
    const place = query ? name.toLowerCase().indexOf(query) : -1;
    if (place < 0) return name;
    return [
      name.slice(0, place),
      h("mark", {}, name.slice(place, place + query.length)),
      name.slice(place + query.length),
    ];
  }

  // ------------------------------------------------------------ moving and choosing

  function reveal(node) {
    let changed = false;
    for (let at = nodes.parent[node]; at > 0; at = nodes.parent[at]) {
      if (!state.open.has(at)) changed = true;
      state.open.add(at);
    }
    if (changed) lay();
  }

  function activate(node, place = state.visible.indexOf(node)) {
    state.active = node;
    const top = place * ROW;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + ROW > view.scrollTop + view.clientHeight)
      view.scrollTop = top + ROW - view.clientHeight;
    draw();
  }

  function choose(node) {
    state.chosen = node;
    if (node > 0) {
      reveal(node);
      activate(node);
    } else draw();
    onChoose(node);
  }

  function toggle(node, open = !state.open.has(node)) {
    if (!children[node].length) return;
    if (open) state.open.add(node);
    else state.open.delete(node);
    lay();
  }

  function onClick(event) {
    const element = event.target.closest("[data-node]");
    if (!element) return;
    const node = Number(element.dataset.node);
    if (event.target.classList.contains("twist")) {
      toggle(node);
      activate(node);
    } else choose(node);
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { visible } = state;
    const place = visible.indexOf(state.active);
    const page = Math.max(1, Math.floor(view.clientHeight / ROW) - 1);
    const go = (to) => activate(visible[Math.max(0, Math.min(visible.length - 1, to))]);
    const moves = {
      ArrowDown: () => go(place + 1),
      ArrowUp: () => go(place < 0 ? 0 : place - 1),
      PageDown: () => go(place + page),
      PageUp: () => go(place - page),
      Home: () => go(0),
      End: () => go(visible.length - 1),
      ArrowRight: () => {
        if (place < 0) go(0);
        else if (!state.open.has(state.active)) toggle(state.active, true);
        else if (children[state.active].length) go(place + 1);
      },
      ArrowLeft: () => {
        if (state.open.has(state.active) && children[state.active].length)
          toggle(state.active, false);
        else if (nodes.parent[state.active] > 0) activate(nodes.parent[state.active]);
      },
      Enter: () => place >= 0 && choose(state.active),
      " ": () => place >= 0 && choose(state.active),
      "*": () => {
        for (const sibling of children[nodes.parent[state.active]])
          if (children[sibling].length) state.open.add(sibling);
        lay();
      },
    };
    if (event.key in moves) moves[event.key]();
    else if (/^[\p{L}\p{N}]$/u.test(event.key)) goToLetter(event.key.toLowerCase(), place);
    else return;
    event.preventDefault();
  }

  function goToLetter(letter, place) {
    const { visible } = state;
    for (let step = 1; step <= visible.length; step += 1) {
      const node = visible[(place + step) % visible.length];
      if (nodes.name[node].toLowerCase().startsWith(letter)) return activate(node);
    }
  }

  // ------------------------------------------------------------ searching

  let lowered = null;

  function search(text) {
    state.query = text.trim().toLowerCase();
    lowered ??= nodes.name.map((name) => name.toLowerCase());
    isFound.clear();
    state.found = [];
    if (state.query) {
      for (let node = 1; node < N_NODES; node += 1)
        if (lowered[node].includes(state.query)) state.found.push(node);
      state.found.forEach((node) => isFound.add(node));
    }
    state.at = -1;
    if (state.found.length) next(1);
    else draw();
    return state.found.length;
  }

  function next(step) {
    const { found } = state;
    if (!found.length) return;
    state.at = (state.at + step + found.length) % found.length;
    const node = found[state.at];
    reveal(node);
    const place = state.visible.indexOf(node);
    view.scrollTop = Math.max(0, place * ROW - view.clientHeight / 3);
    activate(node, place);
  }

  // ------------------------------------------------------------ as a whole

  function openAll() {
    for (let node = 0; node < N_NODES; node += 1) if (children[node].length) state.open.add(node);
    lay();
  }

  function closeAll() {
    state.open = new Set([0]);
    view.scrollTop = 0;
    state.active = children[0][0] ?? 0;
    lay();
  }

  function begin() {
    if (N_NODES <= 40) openAll();
    state.active = children[0][0] ?? 0;
    lay();
  }

  if (typeof ResizeObserver === "function") new ResizeObserver(() => draw()).observe(view);
  addEventListener("beforeprint", () => {
    drawAll = true;
    view.classList.add("printed");
    draw();
  });
  addEventListener("afterprint", () => {
    drawAll = false;
    view.classList.remove("printed");
    draw();
  });

  return {
    view,
    begin,
    choose,
    search,
    next,
    openAll,
    closeAll,
    place: () => ({ at: state.at + 1, of: state.found.length }),
    colour(key) {
      state.colour = key;
      draw();
    },
  };
}
