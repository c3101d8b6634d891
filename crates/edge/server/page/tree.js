// Shows JSON as a tree whose branches open on demand, and data of any form in the way that suits it.

import { ansi } from './ansi.js';
import { diff, isDiff } from './diff.js';
import { h, put } from './dom.js';
import { t } from './words.js';

// The most entries of a branch that are shown at once.
const ENTRIES = 200;

// The longest text that is shown without a click.
const TEXT_MAX = 600;

// Shows a JSON value as a tree; branches down to `open` levels are open.
export function tree(value, open = 1) {
  return h('div', { class: 'tree' }, node(null, value, open));
}

function node(name, value, open) {
  const label = name === null ? null : [h('span', { class: 'key' }, name), ': '];
  if (value === null || typeof value !== 'object') return h('div', { class: 'leaf' }, label, scalar(value));
  const entries = Object.entries(value);
  const [before, after] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return h('div', { class: 'leaf' }, label, `${before}${after}`);
  const body = h('div', { class: 'branch' });
  const fill = () => {
    if (body.childElementCount === 0) more(body, entries, 0, open - 1);
  };
  const box = h('details', { open: open > 0, ontoggle: () => box.open && fill() },
    h('summary', {}, label, h('span', { class: 'muted' }, `${before}${entries.length}${after}`), ' ', open > 0 ? null : h('span', { class: 'muted peek' }, peek(value))), body);
  if (open > 0) fill();
  return box;
}

function more(body, entries, from, open) {
  body.append(...entries.slice(from, from + ENTRIES).map(([name, value]) => node(name, value, open)));
  const rest = entries.length - from - ENTRIES;
  if (rest <= 0) return;
  const button = h('button', { type: 'button', class: 'small', onclick: () => { button.remove(); more(body, entries, from + ENTRIES, open); } }, t('more', { count: rest }));
  body.append(button);
}

function peek(value) {
  const names = Array.isArray(value) ? value.filter((item) => typeof item !== 'object').map(String) : Object.keys(value);
  return names.join(', ').slice(0, 80);
}

function scalar(value) {
  if (value === '') return h('span', { class: 'null' }, '""');
  if (typeof value === 'string') return h('span', { class: 'text' }, cut(value));
  return h('span', { class: value === null ? 'null' : typeof value }, String(value));
}

function cut(text) {
  if (text.length <= TEXT_MAX) return ansi(text);
  const place = h('span', {}, ansi(text.slice(0, TEXT_MAX)), '… ');
  place.append(h('button', { type: 'button', class: 'small', onclick: () => put(place, ansi(text)) }, t('all-of-text', { count: text.length })));
  return place;
}

// Shows data to decide by: diffs as diffs, text as text, lists of texts as lists, everything else as a tree.
export function data(value) {
  if (typeof value === 'string') return isDiff(value) ? diff(value) : h('div', { class: 'prose' }, longText(value));
  const isPlain = Array.isArray(value) && value.length > 0 && value.length <= 50 && value.every((item) => typeof item === 'string' && !isDiff(item));
  if (isPlain) return h('ul', { class: 'plain' }, value.map((item) => h('li', {}, item)));
  return tree(value, 2);
}

function longText(text) {
  return text.length > 20_000 ? cut(text) : ansi(text);
}
