// The list of the records of a run. Only the rows in view exist, so 100,000 records scroll as smoothly as ten.

import { h, keyed } from './dom.js';
import { time } from './format.js';
import { t, tOr } from './words.js';

const ROW = 42;
// Rows beyond each edge of the view.
const EXTRA = 8;

// Makes the timeline: `{node, draw, reveal}`. `select` is called with the number of a record.
export function timeline(source, select) {
  const space = h('div', { class: 'rows' });
  const node = h('div', { class: 'timeline', role: 'listbox', tabindex: '0', 'aria-label': t('timeline') }, space);
  let chosen = 0;
  const height = () => node.clientHeight || 400;

  const draw = () => {
    space.style.height = `${source.last * ROW}px`;
    const from = Math.max(1, Math.floor(node.scrollTop / ROW) + 1 - EXTRA);
    const to = Math.min(source.last, Math.ceil((node.scrollTop + height()) / ROW) + EXTRA);
    const shown = [];
    for (let seq = from; seq <= to; seq += 1) shown.push({ seq, record: source.at(seq) });
    keyed(space, shown, ({ seq }) => seq, ({ seq, record }) => `${Boolean(record)}${seq === chosen}${seq === chosen ? source.last : ''}`, row);
    node.setAttribute('aria-activedescendant', chosen ? `record-${chosen}` : '');
  };

  const row = ({ seq, record }) => {
    const box = h('div', { class: 'row', role: 'option', id: `record-${seq}`, 'aria-selected': String(seq === chosen), 'aria-posinset': seq, 'aria-setsize': source.last, onclick: () => select(seq) },
      h('span', { class: 'seq' }, seq), record ? summary(record) : h('span', { class: 'muted' }, '…'));
    box.style.top = `${(seq - 1) * ROW}px`;
    return box;
  };

  const reveal = (seq) => {
    chosen = seq;
    const [top, bottom] = [(seq - 1) * ROW, seq * ROW];
    space.style.height = `${source.last * ROW}px`;
    if (top < node.scrollTop) node.scrollTop = top;
    else if (bottom > node.scrollTop + height()) node.scrollTop = bottom - height();
    draw();
  };

  const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  node.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    select(Math.min(source.last, Math.max(1, (chosen || source.last) + step)));
  });
  let isDrawing = false;
  node.addEventListener('scroll', () => {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      draw();
    });
  });
  return { node, draw, reveal };
}

// Returns the word for the kind of a record.
export function kind(record) {
  return tOr(`kind-${String(record.kind).replaceAll(' ', '-')}`, String(record.kind));
}

function summary(record) {
  const move = record.moves.find((move) => move.taken && move.to_state) ?? record.moves[0];
  const first = move?.to_state
    ? [move.from_state ? h('span', { class: 'state-name' }, move.from_state) : null, move.from_state ? ' → ' : '→ ', h('b', { class: 'state-name' }, move.to_state ?? '–'), ' ', move.event ? h('span', { class: 'event' }, move.event) : null]
    : [h('span', { class: 'muted' }, kind(record)), ' ', record.activity ? h('span', { class: 'state-name' }, `${record.activity.name} · ${record.activity.state}`) : null, move?.event && move.event !== record.kind ? h('span', { class: 'event' }, ' ', move.event) : null];
  const marks = [
    record.moves.length > 1 ? `+${record.moves.length - 1}` : null,
    record.evidence.length ? t('files', { count: record.evidence.length }) : null,
    move?.judge ? t('judge-of', { name: move.judge.name }) : null,
    move?.by ? move.by.name : null,
  ].filter(Boolean);
  return [h('span', { class: 'what' }, first), time(record.at), h('span', { class: 'why' }, move && !move.taken ? h('em', {}, t('not-taken'), ' ') : null, move?.reason ?? ''), h('span', { class: 'marks' }, marks.join(' · '))];
}
