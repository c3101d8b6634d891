// Builds DOM nodes. Text becomes text nodes and attributes become attributes: nothing here interprets HTML.

import { isInUse } from './typing.js';

const SVG = 'http://www.w3.org/2000/svg';

// Makes an element. Functions among the attributes whose name begins with `on` become event listeners; `false`, `null`
// and `undefined` leave an attribute out; children may be nodes, text, or lists of them.
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// Makes an SVG element.
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function' && name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  return add(element, ...children);
}

// Appends children to a node and returns the node.
export function add(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// Replaces the children of a node.
export function put(node, ...children) {
  node.replaceChildren();
  return add(node, ...children);
}

// Shows a list, and keeps the node of an item as long as its key and version are the same. A node in use (`isHeld`) is
// kept although its item has changed or gone; `onHeld` is told, with `true` if it has gone. The node with the focus is
// never moved: the others are moved around it, so that a person who types keeps focus, text and caret.
export function keyed(parent, items, key, version, build, { isHeld = isInUse, onHeld = () => {} } = {}) {
  const before = parent.keyedNodes ?? new Map();
  const places = new Map([...parent.children].map((node, at) => [node, at]));
  const now = new Map();
  for (const item of items) {
    const [id, seen] = [key(item), version(item)];
    const kept = before.get(id);
    before.delete(id);
    if (kept && kept.seen !== seen && isHeld(kept.node)) {
      onHeld(kept.node, false);
      now.set(id, kept);
    } else now.set(id, kept?.seen === seen ? kept : { seen, node: build(item) });
  }
  const nodes = [...now.values()].map(({ node }) => node);
  for (const [id, entry] of before) {
    if (!isHeld(entry.node)) continue;
    onHeld(entry.node, true);
    now.set(id, { ...entry, seen: null });
    nodes.splice(Math.min(places.get(entry.node) ?? 0, nodes.length), 0, entry.node);
  }
  parent.keyedNodes = now;
  arrange(parent, nodes);
}

// Gives a parent exactly these children in this order.
function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  const fixed = nodes.findIndex((node) => parent.contains(node) && node.contains(document.activeElement));
  const fill = (part, first) => {
    let place = first;
    for (const node of part) {
      if (node === place) place = place.nextSibling;
      else parent.insertBefore(node, place);
    }
  };
  if (fixed < 0) return fill(nodes, parent.firstChild);
  // Nodes that belong behind the fixed one are moved there at the end.
  let place = parent.firstChild;
  for (const node of nodes.slice(0, fixed)) {
    while (place !== nodes[fixed] && place !== node && nodes.indexOf(place) > fixed) place = place.nextSibling;
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  fill(nodes.slice(fixed + 1), nodes[fixed].nextSibling);
}

// Returns a function that asks for some work: it is done once after a delay, and never twice at a time. A request during
// the work leads to one more round after it.
export function soon(work, delay = 60) {
  let [timer, isBusy, isWanted] = [null, false, false];
  const run = async () => {
    [timer, isBusy] = [null, true];
    try {
      await work();
    } finally {
      isBusy = false;
      if (isWanted) ask();
      isWanted = false;
    }
  };
  const ask = () => {
    if (isBusy) isWanted = true;
    else timer ??= setTimeout(run, delay);
  };
  return ask;
}

// Returns a function that fetches something and shows it. An answer that a newer request has overtaken is dropped.
export function latest(fetch, show) {
  let asked = 0;
  return async () => {
    asked += 1;
    const mine = asked;
    const answer = await fetch();
    if (mine === asked) show(answer);
  };
}
