// The facts and values derived from them: children, depths, paths, numbers of leaves.

const facts = JSON.parse(document.getElementById("facts").textContent);
const nodes = facts.nodes;
const N_NODES = nodes.name.length;

const children = Array.from({ length: N_NODES }, () => []);
for (let node = 1; node < N_NODES; node += 1) children[nodes.parent[node]].push(node);

const depth = new Int32Array(N_NODES);
const leavesBelow = new Int32Array(N_NODES);
const isUnseen = new Set(nodes.unseen);
// parents precede their children in the columns
for (let node = 1; node < N_NODES; node += 1) depth[node] = depth[nodes.parent[node]] + 1;
for (let node = N_NODES - 1; node >= 0; node -= 1) {
  if (!children[node].length) leavesBelow[node] = 1;
  if (node) leavesBelow[nodes.parent[node]] += leavesBelow[node];
}

function pathTo(node) {
  const path = [];
  for (let at = node; at > 0; at = nodes.parent[at]) path.push(at);
  return path.reverse();
}

const nameOf = (node) => (node === 0 ? "all classes" : nodes.name[node]);
const pathText = (node) =>
  node === 0
    ? nameOf(0)
    : pathTo(node)
        .map((at) => nodes.name[at])
        .join(" › ");

// The name of a node if it is unique, otherwise its path.
const timesNamed = new Map();
for (const name of nodes.name) timesNamed.set(name, (timesNamed.get(name) ?? 0) + 1);
const labelOf = (node) => (timesNamed.get(nodes.name[node]) > 1 ? pathText(node) : nameOf(node));

function isBelow(node, top) {
  for (let at = node; at >= top; at = nodes.parent[at]) if (at === top) return true;
  return false;
}

// ---------------------------------------------------------------- colours

const SHARES = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
const SUPPORTS = [1, 10, 30, 100, 300, 1000];
const binOf = (value, bounds) => bounds.filter((bound) => value >= bound).length;

const COLOURINGS = {
  f1: {
    title: "F1",
    heading: "F1",
    bounds: SHARES,
    scale: "q",
    value: (node) => nodes.f1[node],
    text: number,
  },
  support: {
    title: "rows",
    heading: "rows",
    bounds: SUPPORTS,
    scale: "w",
    value: (node) => nodes.support[node],
    text: short,
  },
  confidence: {
    title: "confidence",
    heading: "conf.",
    bounds: SHARES,
    scale: "q",
    value: (node) => nodes.confidence[node],
    text: number,
  },
};

function colourClass(node, key) {
  const colouring = COLOURINGS[key];
  const value = colouring.value(node);
  return isNumber(value) ? `${colouring.scale}${binOf(value, colouring.bounds)}` : "none";
}
