// Shows the report of a run: its first sentence and its sections, such as the cells of a notebook with their pictures.
// Every text becomes a text node, and a picture is one of the types that cannot load anything.

import { get } from './api.js';
import { ansi } from './ansi.js';
import { diff } from './diff.js';
import { h, put, soon } from './dom.js';
import { failure } from './widgets.js';
import { t } from './words.js';

// The delay before a report is made again after a record, in milliseconds.
const DELAY_MS = 1500;

// The report of a run that takes longer than this, in milliseconds, is not made again by itself.
const SLOW_MS = 3000;

const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/;

// Shows the report of a run, and keeps it up to date; `open` shows an evidence file.
export function reportPanel(run, signal, follow, open) {
  const place = h('div', { class: 'report' }, h('p', { class: 'muted' }, t('loading')));
  let [seen, isSlow] = ['', false];
  const load = async () => {
    if (isSlow || (seen && !place.isConnected)) return;
    const began = performance.now();
    const { sentence, sections } = await get(['runs', run, 'report', 'sections'], {}, signal);
    isSlow = performance.now() - began > SLOW_MS;
    const text = JSON.stringify([sentence, sections]);
    if (text === seen) return;
    seen = text;
    put(place, h('p', {}, words(sentence, open)), sections.map(({ title, parts }) => h('section', {}, h('h3', {}, title), parts.map((part) => show(part, title, open)))));
  };
  const reload = soon(() => load().catch(() => {}), DELAY_MS);
  follow((notice) => { if (notice.type === 'hello' || notice.run === run) reload(); });
  load().catch((error) => { if (error.name !== 'AbortError') put(place, failure(error)); });
  return place;
}

function show(part, title, open) {
  switch (part.kind) {
    case 'heading': return h('h4', {}, part.text);
    case 'text': return h('p', { class: 'prose' }, words(part.text, open));
    case 'code': return h('pre', { class: 'log', tabindex: '0' }, ansi(part.text));
    case 'diff': return diff(part.text);
    case 'picture': return PICTURE.test(part.data) ? h('img', { src: part.data, alt: part.name }) : part.name;
    default: return [
      h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': title }, h('table', { class: 'list' }, h('thead', {}, h('tr', {}, part.head.map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, part.rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, words(cell, open)))))))),
      part.more ? h('p', { class: 'muted' }, t('more-rows', { count: part.more })) : null,
    ];
  }
}

// Shows the pieces of a text: code, buttons that open evidence files, and plain text.
function words(pieces, open) {
  return pieces.map(({ text, is_code: isCode, file }) => {
    if (file) return h('button', { type: 'button', class: 'link', onclick: () => open(file) }, text);
    return isCode ? h('code', {}, text) : text;
  });
}
