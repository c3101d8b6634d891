// Everything that waits for a person: the question, the data to decide by, the deadline and the form that answers.

import { get } from '../api.js';
import { answer } from '../answer.js';
import { h, keyed, latest, put, soon } from '../dom.js';
import { openDiff } from '../evidence.js';
import { age, due } from '../format.js';
import { link } from '../route.js';
import { outdated, runLink } from '../widgets.js';
import { t } from '../words.js';

const PAGE = 50;

// Shows the inbox.
export async function inbox({ main, query, canAct, signal, title, follow }) {
  title(t('inbox'));
  const list = h('div', { class: 'inbox' });
  const empty = h('p', { class: 'empty' }, t('inbox-empty'));
  const more = h('a', { class: 'button', hidden: true }, t('older'));
  const live = h('p', { class: 'sr', role: 'status', 'aria-live': 'polite' });
  let known = null;
  const load = latest(() => get(['inbox'], { ...query, limit: PAGE }, signal), ({ items, next }) => {
    // The nearest deadline comes first, then the run that has waited longest.
    const order = (item) => (item.due ? new Date(item.due).getTime() : Infinity);
    items.sort((a, b) => (order(a) === order(b) ? new Date(a.updated) - new Date(b.updated) : order(a) - order(b)));
    keyed(list, items, (item) => item.run, (item) => JSON.stringify([item.place, item.due, item.offers]), (item) => card(item, canAct, reload), { onHeld: (node, isGone) => outdated(node, isGone, reload) });
    empty.hidden = list.childElementCount > 0;
    more.hidden = next === null;
    if (next) more.href = link(['inbox'], { ...query, before: next });
    const fresh = known ? items.filter(({ run }) => !known.has(run)) : [];
    if (fresh.length) live.textContent = t('asks-now', { run: fresh.map(({ run }) => run).join(', ') });
    known = new Set(items.map(({ run }) => run));
  });
  const reload = soon(() => load().catch(() => {}), 200);
  put(main, h('div', { class: 'page narrow' }, h('div', { class: 'head' }, h('h1', {}, t('inbox'))), live, list, empty, h('div', { class: 'buttons pager' }, more)));
  follow((notice) => {
    if (notice.type === 'hello' || notice.type === 'record') reload();
  });
  await load();
}

function card(item, canAct, done) {
  return h('article', { class: 'card', 'data-run': item.run, 'aria-label': item.run },
    h('header', {}, h('h2', {}, runLink(item.run)), h('span', { class: 'muted mono' }, `${item.machine} · ${item.place}`),
      h('span', { class: 'right' }, item.due ? [t('deadline'), ' ', due(item.due), ' · '] : null, h('span', { class: 'muted' }, t('waits-since'), ' ', age(item.updated)), ' ', h('button', { type: 'button', class: 'small', onclick: () => openDiff(item.run) }, t('diff')))),
    answer(item.run, item.offers, { canAct, input: item.input, done }));
}
