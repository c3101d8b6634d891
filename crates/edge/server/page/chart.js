// Shows the picture of a machine: active states lit, taken transitions numbered and fading, zoom, pan, search, and
// composite states that can be collapsed.
//
// The server draws the picture. Only known elements and attributes of it reach the page.

import { h, put, s } from './dom.js';
import { t } from './words.js';

const ELEMENTS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan', 'title', 'desc']);
const ATTRIBUTES = /^(class|d|x|y|x1|x2|y1|y2|dx|dy|r|rx|ry|cx|cy|width|height|points|transform|viewBox|role|xml:space|stroke-width|stroke-dasharray|text-anchor|data-[a-z]+)$/;
// The number of transitions that are shown as taken.
const TRAIL = 6;
// The distance of a number from the beginning of its transition.
const START = 11;
const [ZOOM_MIN, ZOOM_MAX, ZOOM_READABLE, ZOOM_OVERVIEW] = [0.15, 3, 0.62, 0.45];

// Returns the drawing in an SVG text; `null` if it is none. Scripts, links, styles and unknown elements are dropped.
export function drawing(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  return root.localName === 'svg' ? copy(root) : null;
}

function copy(element) {
  const kept = [...element.attributes].filter(({ name }) => ATTRIBUTES.test(name)).map(({ name, value }) => [name, value]);
  const children = [...element.childNodes].flatMap((child) => {
    if (child.nodeType === Node.TEXT_NODE) return [child.data];
    return child.nodeType === Node.ELEMENT_NODE && ELEMENTS.has(child.localName) ? [copy(child)] : [];
  });
  return s(element.localName, Object.fromEntries(kept), ...children);
}

// Makes a chart of an SVG text: `{node, show, find, reveal}`. `redraw` fetches the picture with some states collapsed.
export function chart(text, { onState = null, redraw = null } = {}) {
  const scroll = h('div', { class: 'chart-scroll', tabindex: '0', role: 'region', 'aria-label': t('picture') });
  const [marks, folds] = [s('g', { class: 'marks' }), s('g', {})];
  const collapsed = new Set();
  let [svg, width, height, states, edges, composites, zoom, isFitted, isShown, last] = [null, 0, 0, [], [], [], 0, false, false, {}];

  const setZoom = (value, at) => {
    const before = zoom;
    zoom = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, value));
    svg.style.width = `${width * zoom}px`;
    svg.style.height = `${height * zoom}px`;
    if (before && at) {
      scroll.scrollLeft = (scroll.scrollLeft + at.x) * (zoom / before) - at.x;
      scroll.scrollTop = (scroll.scrollTop + at.y) * (zoom / before) - at.y;
    }
  };
  const middle = () => ({ x: scroll.clientWidth / 2, y: scroll.clientHeight / 2 });
  const fitWhole = () => setZoom(Math.min(scroll.clientWidth / width, (scroll.clientHeight || height) / height, 1));
  const fit = () => setZoom(Math.max(Math.min(scroll.clientWidth / width, 1), ZOOM_READABLE));
  const button = (label, name, work) => h('button', { type: 'button', class: 'quiet', title: name, 'aria-label': name, onclick: work }, label);
  const foldAll = button('⊟', t('collapse-all'), () => {
    if (collapsed.size) expand();
    else collapse(() => true);
  });
  const node = h('div', { class: 'chart' }, scroll, h('div', { class: 'chart-tools' }, foldAll,
    button('+', t('zoom-in'), () => setZoom(zoom * 1.25, middle())),
    button('−', t('zoom-out'), () => setZoom(zoom / 1.25, middle())),
    button('⤢', t('zoom-fit'), fitWhole)));

  // Shows a drawing. Returns false if the text is none.
  const draw = (given) => {
    const made = drawing(given);
    if (!made) return false;
    svg = made;
    [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
    svg.removeAttribute('width');
    svg.removeAttribute('height');
    states = [...svg.querySelectorAll('[data-state]')];
    edges = [...svg.querySelectorAll('[data-transitions]')].map((edge) => ({ edge, numbers: edge.dataset.transitions.split(' ').map(Number) }));
    svg.append(marks, folds);
    put(folds);
    put(scroll, svg);
    setZoom(zoom || ZOOM_READABLE);
    return true;
  };
  if (!draw(text)) return { node: h('p', { class: 'muted' }, t('no-picture')), show() {}, find: () => 0, reveal() {}, async overview() {}, expand() {} };
  composites = states.filter(({ dataset }) => dataset.fold).map(({ dataset }) => dataset);
  composites = composites.map(({ state, depth }) => ({ name: state, isNested: Number(depth) > 0 }));
  foldAll.hidden = !redraw || composites.length === 0;

  // Fetches the picture again after states were collapsed or expanded, and keeps the focus on the one that was clicked.
  const drawAgain = async (name) => {
    const drawn = await redraw([...collapsed]).catch(() => null);
    if (!drawn || !draw(drawn)) return;
    foldAll.textContent = collapsed.size ? '⊞' : '⊟';
    foldAll.title = t(collapsed.size ? 'expand-all' : 'collapse-all');
    foldAll.setAttribute('aria-label', foldAll.title);
    if (!name) fit();
    show({ ...last, isFollowed: !name });
    if (!name) return;
    reveal(name);
    [...folds.children].find(({ dataset }) => dataset.of === name)?.focus();
  };
  const collapse = (isMeant) => {
    composites.filter(isMeant).forEach(({ name }) => collapsed.add(name));
    return collapsed.size ? drawAgain() : undefined;
  };
  const expand = () => {
    const isAny = collapsed.size > 0;
    collapsed.clear();
    return isAny ? drawAgain() : undefined;
  };
  const addFolds = () => {
    if (!redraw || folds.hasChildNodes()) return;
    // Controls are no part of an image.
    if (composites.length) svg.setAttribute('role', 'group');
    for (const state of states.filter(({ dataset }) => dataset.fold)) {
      folds.append(foldButton(state, (name, isOpen) => {
        if (isOpen) collapsed.add(name);
        else collapsed.delete(name);
        drawAgain(name);
      }));
    }
  };
  pan(scroll);
  scroll.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = scroll.getBoundingClientRect();
    setZoom(zoom * Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
  }, { passive: false });
  scroll.addEventListener('keydown', (event) => {
    if (event.key === '+' || event.key === '=') setZoom(zoom * 1.25, middle());
    else if (event.key === '-') setZoom(zoom / 1.25, middle());
    else if (event.key === '0') fitWhole();
    else return;
    event.preventDefault();
  });
  if (onState) {
    scroll.addEventListener('click', (event) => {
      const state = event.target.closest('[data-state]');
      if (state) onState(state.dataset.state);
    });
  }
  // The first look at the chart, when its place on the page has a size.
  const ready = () => {
    if (scroll.clientWidth === 0) return;
    addFolds();
    if (!isFitted) fit();
    isFitted = true;
  };
  // Lights states, and numbers the transitions that were taken: `[{transition, label}]`, the latest last.
  const show = (given) => {
    last = given;
    const { active = [], taken = [], isFollowed = true } = given;
    ready();
    const lit = new Set(active);
    let first = null;
    for (const state of states) {
      const isLit = lit.has(state.dataset.state);
      state.classList.toggle('lit', isLit);
      if (isLit && state.querySelector('.box')) first ??= state;
    }
    put(marks);
    const latest = taken.slice(-TRAIL).reverse();
    for (const { edge, numbers } of edges) {
      const rank = latest.findIndex(({ transition }) => numbers.includes(transition));
      for (let at = 0; at < TRAIL; at += 1) edge.classList.toggle(`taken-${at}`, at === rank);
      const path = rank < 0 ? null : edge.querySelector('path.edge');
      if (path) marks.append(mark(path, latest[rank].label, rank));
    }
    if (isFollowed && first) bringIntoView(scroll, first, !isShown);
    isShown ||= first !== null;
  };
  // Marks the states whose name contains a text, and shows the first. Returns their number.
  const find = async (words) => {
    ready();
    const wanted = words.trim().toLowerCase();
    const look = () => states.filter((state) => {
      const isFound = wanted !== '' && state.dataset.state.toLowerCase().includes(wanted);
      state.classList.toggle('found', isFound);
      return isFound;
    });
    // The state may be inside a collapsed one.
    if (wanted !== '' && look().length === 0) await expand();
    const found = look();
    if (found[0]) bringIntoView(scroll, found[0]);
    return found.length;
  };
  // Scrolls to a state.
  const reveal = (name) => {
    ready();
    const found = states.find((state) => state.dataset.state === name);
    if (found) bringIntoView(scroll, found, true);
  };
  // Collapses the states within other composite states, if the whole would be too small to read.
  const overview = async () => {
    ready();
    if (foldAll.hidden || Math.min(scroll.clientWidth / width, scroll.clientHeight / height) >= ZOOM_OVERVIEW) return;
    await collapse(({ isNested }) => isNested);
  };
  return { node, show, find, reveal, overview, expand };
}

// Makes the button that collapses or expands a composite state: beside its name, or on the corner of its box.
function foldButton(state, work) {
  const { state: name, fold } = state.dataset;
  const isOpen = fold === 'open';
  const box = state.querySelector(isOpen ? '.name' : '.box').getBBox();
  const [x, y] = [box.x + box.width + (isOpen ? 14 : -4), box.y + (isOpen ? box.height / 2 : 4)];
  const act = (event) => {
    if (event.key && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    work(name, isOpen);
  };
  return s('g', { class: 'fold', 'data-of': name, role: 'button', tabindex: '0', 'aria-expanded': String(isOpen), 'aria-label': t(isOpen ? 'collapse' : 'expand', { state: name }), transform: `translate(${x} ${y})`, onclick: act, onkeydown: act },
    s('rect', { x: -8, y: -8, width: 16, height: 16, rx: 4 }), s('path', { d: isOpen ? 'M-4 0H4' : 'M-4 0H4M0 -4V4' }));
}

function mark(path, label, rank) {
  // Near its beginning, because the label is in the middle.
  const { x, y } = path.getPointAtLength(Math.min(START, path.getTotalLength() / 3));
  const width = 8 + String(label).length * 6.5;
  return s('g', { class: `mark taken-${rank}`, transform: `translate(${x} ${y})` },
    s('rect', { class: 'pill', x: -width / 2, y: -7.5, width, height: 15, rx: 7.5 }),
    s('text', { class: 'badge', y: 3.6 }, label));
}

// Scrolls an element into the middle if it cannot be seen as a whole, or in any case.
function bringIntoView(scroll, element, isForced = false) {
  const [inner, outer] = [element.getBoundingClientRect(), scroll.getBoundingClientRect()];
  const isVisible = inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom;
  if (isVisible && !isForced) return;
  scroll.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  scroll.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

// Moves the content with a pressed mouse button. Fingers scroll by themselves.
function pan(scroll) {
  scroll.addEventListener('pointerdown', (down) => {
    if (down.pointerType !== 'mouse' || down.button !== 0) return;
    let [x, y] = [down.clientX, down.clientY];
    const move = (event) => {
      scroll.scrollLeft -= event.clientX - x;
      scroll.scrollTop -= event.clientY - y;
      [x, y] = [event.clientX, event.clientY];
      scroll.classList.add('panning');
    };
    const end = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', end);
      removeEventListener('pointercancel', end);
      scroll.classList.remove('panning');
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
  });
}
