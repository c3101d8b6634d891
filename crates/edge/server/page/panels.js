// The panels under the chart of a run: data, evidence, time and cost, output, child runs, and the counters.

import { get } from './api.js';
import { ansi } from './ansi.js';
import { h, put, soon } from './dom.js';
import { age, childrenSpent, cost, count, duration } from './format.js';
import { fileButton } from './step.js';
import { tree } from './tree.js';
import { failure, phase, runLink } from './widgets.js';
import { t } from './words.js';

// Shows the counters of a run as n of max.
export function counters(list) {
  // Counters that have not begun are listed last and take little room.
  const sorted = [...list].sort((a, b) => (b.count > 0) - (a.count > 0));
  return sorted.map(({ counter, count: n, max }) => h('span', { class: n >= max ? 'limit full' : n ? 'limit' : 'limit muted', title: counter },
    h('span', { class: 'mono' }, counter), ' ', t('n-of-max', { n, max }), n ? h('progress', { value: n, max: Math.max(1, max), 'aria-label': counter }) : null));
}

// Shows input, context and output at the selected moment. `hook.redraw` shows them again.
export function dataPanel(hook, state) {
  const place = h('div', {});
  let seen = '';
  hook.redraw = () => {
    const { input, context, output, activities, timers } = state();
    const text = JSON.stringify([input, context, output, activities, timers]);
    if (text === seen) return;
    seen = text;
    const part = (title, value, isOpen) => (value === null || value === undefined || Object.keys(value).length === 0 ? null : h('section', {}, h('h3', { class: 'label' }, title), tree(value, isOpen ? 1 : 0)));
    put(place, part(t('context'), context, true), part(t('input'), input, true), part(t('result'), output, true), part(t('activities'), activities, false), part(t('timers'), timers, false));
    if (place.childElementCount === 0) put(place, h('p', { class: 'muted' }, t('no-data')));
  };
  hook.redraw();
  return place;
}

// Shows the evidence files of a run.
export function evidencePanel(run, signal, open) {
  const place = h('div', {}, h('p', { class: 'muted' }, t('loading')));
  get(['runs', run, 'evidence'], {}, signal).then(({ files }) => {
    put(place, files.length ? h('ul', { class: 'plain files' }, files.map((file) => h('li', {}, h('span', { class: 'muted mono' }, `#${file.seq} `), fileButton(file, open)))) : h('p', { class: 'muted' }, t('no-evidence')));
  }).catch((error) => { if (error.name !== 'AbortError') put(place, failure(error)); });
  return place;
}

// Shows time and cost per state as bars.
export function totalsPanel(run, now, signal) {
  const place = h('div', {}, h('p', { class: 'muted' }, t('loading')));
  get(['runs', run, 'totals'], {}, signal).then(({ states, children_spent: ofChildren }) => put(place, bars(states, now()), childrenSpent(ofChildren))).catch((error) => {
    if (error.name !== 'AbortError') put(place, failure(error));
  });
  return place;
}

function bars(states, now) {
  const rows = Object.entries(states).filter(([name]) => name !== now.machine).map(([name, total]) => ({ name, ...total }));
  const longest = Math.max(1, ...rows.map(({ ms }) => ms));
  const [tokensIn, tokensOut, ofAgents, price] = rows.reduce(([a, b, c, d], { tokens, agent_tokens: turn, cost: paid }) => [a + tokens[0], b + tokens[1], c + turn, d + paid], [0, 0, 0, 0]);
  const active = new Set(now.configuration);
  const row = ({ name, entered, ms, activities, tokens, agent_tokens: turn, cost: paid }) => {
    const read = tokens[0] + tokens[1] + turn;
    const bar = h('span', { class: 'fill' });
    bar.style.width = `${(ms / longest) * 100}%`;
    return h('tr', {},
      h('th', { scope: 'row', class: 'mono' }, name), h('td', { class: 'bar-cell' }, h('span', { class: 'track' }, bar)),
      h('td', { class: 'figure' }, duration(ms), active.has(name) ? '…' : ''), h('td', { class: 'figure' }, `${entered}×`), h('td', { class: 'figure' }, activities || ''),
      h('td', { class: 'figure' }, read ? count(read) : ''), h('td', { class: 'figure' }, paid ? cost(paid) : ''));
  };
  return [
    h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': t('totals') }, h('table', { class: 'list bars' }, h('thead', {}, h('tr', {}, ['state', 'time', 'entered', 'activities', 'tokens-short', 'cost'].map((key) => h('th', { scope: 'col', colspan: key === 'time' ? 2 : null }, t(key))))),
      h('tbody', {}, rows.sort((a, b) => b.ms - a.ms).map(row)))),
    price || tokensIn || ofAgents ? h('p', { class: 'muted' }, [tokensIn ? t('tokens', { read: count(tokensIn), written: count(tokensOut) }) : null, ofAgents ? t('agent-tokens', { count: count(ofAgents) }) : null, cost(price)].filter(Boolean).join(' · ')) : null,
  ];
}

// Shows the end of the output of running activities, and keeps it up to date.
export function outputPanel(run, signal, follow) {
  const place = h('div', {}, h('p', { class: 'muted' }, t('loading')));
  const load = async () => {
    if (!place.isConnected && place.dataset.seen) return;
    const { outputs } = await get(['runs', run, 'output'], {}, signal);
    place.dataset.seen = 'yes';
    put(place, outputs.length ? outputs.map(({ file, text }) => h('section', {}, h('h3', { class: 'label mono' }, file), log(text))) : h('p', { class: 'muted' }, t('no-output')));
    for (const box of place.querySelectorAll('pre')) box.scrollTop = box.scrollHeight;
  };
  const reload = soon(() => load().catch(() => {}), 400);
  follow((notice) => { if (notice.type === 'hello' || notice.run === run) reload(); });
  load().catch((error) => { if (error.name !== 'AbortError') put(place, failure(error)); });
  return place;
}

function log(text) {
  return h('pre', { class: 'log', tabindex: '0' }, ansi(text));
}

// Lists child runs.
export function children(list, hasMore) {
  return h('div', {}, hasMore ? h('p', { class: 'muted' }, t('more-children', { count: list.length })) : null, h('table', { class: 'list' }, h('tbody', {}, list.map((child) => h('tr', {}, h('th', { scope: 'row' }, runLink(child.run)), h('td', { class: 'mono' }, child.machine), h('td', {}, phase(child.phase)), h('td', { class: 'mono' }, child.place), h('td', {}, age(child.updated)))))));
}
