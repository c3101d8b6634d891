// Builds DOM nodes. Text becomes text nodes and attributes become attributes: nothing here interprets HTML.

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

// Shows a list, and keeps the node of an item as long as its key and version are the same. A form in an item that has
// not changed keeps what a person has typed. `isHeld` keeps a node that has changed for the moment.
export function keyed(parent, items, key, version, build, isHeld = () => false) {
  const before = parent.keyedNodes ?? new Map();
  const now = new Map();
  let place = parent.firstChild;
  for (const item of items) {
    const [id, seen] = [key(item), version(item)];
    const kept = before.get(id);
    const entry = kept && (kept.seen === seen || isHeld(kept.node)) ? kept : { seen, node: build(item) };
    if (kept && kept !== entry) {
      if (place === kept.node) place = place.nextSibling;
      kept.node.remove();
    }
    now.set(id, entry);
    if (entry.node === place) place = place.nextSibling;
    else parent.insertBefore(entry.node, place);
    before.delete(id);
  }
  for (const { node } of before.values()) node.remove();
  while (place) {
    const next = place.nextSibling;
    if (![...now.values()].some((entry) => entry.node === place)) place.remove();
    place = next;
  }
  parent.keyedNodes = now;
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
