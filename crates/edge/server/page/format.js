// Formats times, sizes and costs. Times that depend on now are kept up to date by one timer.

import { h } from './dom.js';
import { language, t } from './words.js';

const UNITS = [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1_000]];
const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const full = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', hour12: false });

// Formats a duration with its two largest units: `2h 5m`.
export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first];
  const rest = UNITS[first + 1] ? Math.floor((ms % size) / UNITS[first + 1][1]) : 0;
  return `${Math.floor(ms / size)}${unit}${rest ? ` ${rest}${UNITS[first + 1][0]}` : ''}`;
}

// Shows the age of a moment.
export function age(moment) {
  return h('time', { datetime: moment, title: full.format(new Date(moment)), 'data-shows': 'age' }, ageText(moment));
}

// Shows the time until a deadline; nothing if there is none.
export function due(moment) {
  if (!moment) return null;
  const node = h('time', { datetime: moment, title: full.format(new Date(moment)), 'data-shows': 'due' }, dueText(moment));
  node.classList.toggle('late', new Date(moment) < Date.now());
  return node;
}

function ageText(moment) {
  return duration(Math.max(0, Date.now() - new Date(moment)) || 1).replace(/^\d+ms$/, '0s');
}

function dueText(moment) {
  const left = new Date(moment) - Date.now();
  return left >= 0 ? t('due-in', { time: duration(left) }) : t('due-ago', { time: duration(-left) });
}

// Shows the time of day.
export function time(moment) {
  return h('time', { datetime: moment, title: full.format(new Date(moment)) }, clock.format(new Date(moment)));
}

// Formats a number of bytes.
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

// Formats a cost in US dollars.
export function cost(value) {
  return `$${value < 0.1 ? value.toFixed(4) : value.toFixed(2)}`;
}

// Formats a count.
export function count(value) {
  return new Intl.NumberFormat(language).format(value);
}

setInterval(() => {
  for (const node of document.querySelectorAll('time[data-shows]')) {
    const moment = node.dateTime;
    const text = node.dataset.shows === 'age' ? ageText(moment) : dueText(moment);
    if (node.textContent !== text) node.textContent = text;
    if (node.dataset.shows === 'due') node.classList.toggle('late', new Date(moment) < Date.now());
  }
}, 1000);

// Returns the cost and the tokens of a run or of several; an empty text if there are none.
export function spentText(spent) {
  return [spent?.cost ? cost(spent.cost) : null, spent?.tokens ? t('n-tokens', { count: count(spent.tokens) }) : null].filter(Boolean).join(' · ');
}

// Shows the cost and the tokens of child runs; nothing if there are none.
export function childrenSpent(children) {
  const spent = spentText(children);
  return spent ? h('p', { class: 'muted spent', title: t('children-spent') }, t('and-children', { spent, count: count(children.runs) + (children.more ? '+' : '') })) : null;
}
