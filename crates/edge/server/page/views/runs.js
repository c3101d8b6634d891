// The list of runs. It follows the store: rows change as runs move, and new runs appear on the first page.

import { get } from '../api.js';
import { h, keyed, latest, put, soon } from '../dom.js';
import { age, count, due } from '../format.js';
import { progress } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { phase, runLink } from '../widgets.js';
import { t } from '../words.js';

const PHASES = ['active', 'waiting', 'paused', 'succeeded', 'incomplete', 'failed', 'aborted'];
const PAGE = 50;

// Shows the list.
export async function runs({ main, query, canStart, signal, title, follow }) {
  title(t('runs'));
  const filter = { ...query };
  let shown = [];
  let next = null;
  const body = h('tbody', {});
  const empty = h('p', { class: 'empty', hidden: true });
  const older = h('button', { type: 'button', onclick: () => go(link([], { ...filter, before: next })) }, t('older'));
  const newest = h('a', { class: 'button', href: link([], { ...filter, before: undefined }) }, t('newest'));
  const live = h('p', { class: 'sr', role: 'status', 'aria-live': 'polite' });

  // The number of all runs of each phase, beside its filter.
  const chips = Object.fromEntries(PHASES.map((name) => [name, h('span', { class: 'muted total' })]));
  const load = latest(() => Promise.all([get(['runs'], { ...filter, limit: PAGE }, signal), get(['phases'], { machine: filter.machine, prefix: filter.prefix }, signal)]), ([answer, { phases }]) => {
    [shown, next] = [answer.runs, answer.next];
    for (const name of PHASES) chips[name].textContent = phases[name] ? ` ${count(phases[name])}` : '';
    draw();
  });
  const draw = () => {
    keyed(body, shown, (row) => row.run, (row) => `${row.seq} ${row.phase} ${row.due}${JSON.stringify(row.waits ?? '')}${row.continued_by ?? ''}`, row);
    empty.hidden = shown.length > 0;
    put(empty, Object.values(filter).some(Boolean) ? t('no-match') : [t('no-runs'), ' ', h('a', { href: '/machines' }, t('start-one'))]);
    older.hidden = next === null;
    newest.hidden = !filter.before;
  };
  const reload = soon(() => load().catch(() => {}), 400);
  // A notice changes its row at once. Whatever it does not tell (a new run, a filter, the question) is fetched later.
  const hear = (notice) => {
    if (notice.type === 'hello') return reload();
    if (notice.type === 'progress') return tell(body, notice.run);
    if (notice.type !== 'record') return;
    const found = shown.find((row) => row.run === notice.run);
    if (!found) return filter.before ? undefined : reload();
    if (found.phase !== notice.phase) live.textContent = `${notice.run}: ${t(`phase-${notice.phase}`)}`;
    if (notice.seq >= found.seq) Object.assign(found, { seq: notice.seq, phase: notice.phase, place: notice.place, updated: notice.updated, due: notice.due ?? null });
    draw();
    reload();
  };

  const apply = () => {
    delete filter.before;
    setQuery(filter);
    load().catch(() => {});
  };
  put(main, h('div', { class: 'page' },
    h('div', { class: 'head' }, h('h1', {}, t('runs')), await filters(filter, apply, signal, chips),
      canStart ? h('a', { class: 'button primary right', href: '/machines' }, t('start-run')) : null),
    h('div', { class: 'scroll' }, h('table', { class: 'list runs-list' },
      h('thead', {}, h('tr', {}, ['run', 'machine', 'phase', 'state', 'waits-for', 'deadline', 'changed', 'created'].map((key) => h('th', { scope: 'col', class: `c-${key}` }, t(key))))), body)),
    empty, live, h('div', { class: 'buttons pager' }, newest, older)));
  older.hidden = newest.hidden = true;
  follow(hear);
  await load();
}

async function filters(filter, apply, signal, totals) {
  const typed = soon(apply, 250);
  const prefix = h('input', { type: 'search', placeholder: t('name-begins'), 'aria-label': t('name-begins'), oninput: () => { filter.prefix = prefix.value; typed(); } });
  prefix.value = filter.prefix ?? '';
  const machines = await get(['machines'], {}, signal).then((answer) => answer.machines.map(({ id }) => id)).catch(() => []);
  if (filter.machine && !machines.includes(filter.machine)) machines.push(filter.machine);
  const machine = h('select', { 'aria-label': t('machine'), onchange: () => { filter.machine = machine.value; apply(); } },
    h('option', { value: '' }, t('all-machines')), machines.map((id) => h('option', { value: id, selected: id === filter.machine }, id)));
  const chosen = new Set((filter.phase ?? '').split(',').filter(Boolean));
  const toggle = (name, button) => {
    if (!chosen.delete(name)) chosen.add(name);
    button.setAttribute('aria-pressed', String(chosen.has(name)));
    filter.phase = [...chosen].join(',');
    apply();
  };
  const phases = PHASES.map((name) => {
    const button = h('button', { type: 'button', class: 'chip', 'aria-pressed': String(chosen.has(name)), onclick: () => toggle(name, button) }, phase(name), totals[name]);
    return button;
  });
  return h('div', { class: 'filters', role: 'search' }, prefix, machine, h('div', { class: 'chips', role: 'group', 'aria-label': t('phase') }, phases));
}

function row(run) {
  return h('tr', { 'data-run': run.run },
    h('th', { scope: 'row' }, runLink(run.run)),
    h('td', { class: 'mono' }, run.machine),
    h('td', {}, phase(run.phase)),
    h('td', { class: 'mono place' }, run.place),
    h('td', { class: 'now' }, waits(run)),
    h('td', {}, due(run.due)),
    h('td', { class: 'c-changed' }, age(run.updated)),
    h('td', { class: 'c-created' }, age(run.created)));
}

// Returns the words for what a run waits for.
export function waits(run) {
  const running = progress.get(run.run);
  if (run.phase === 'active') return running?.text ?? run.doing ?? named(run.waits) ?? t('waits-activity');
  if (run.phase === 'waiting') return named(run.waits) ?? t('waits-person');
  return run.continued_by ? `${t('continued-by')} ${run.continued_by}` : '';
}

function named(given) {
  if (!given) return null;
  if (typeof given === 'string') return given;
  return [tOrSelf(given.for), given.what].filter(Boolean).join(': ');
}

function tOrSelf(word) {
  const text = t(`waits-${word}`);
  return text === `waits-${word}` ? word : text;
}

function tell(body, run) {
  const cell = [...body.rows].find((line) => line.dataset.run === run)?.querySelector('.now');
  if (cell) cell.textContent = progress.get(run)?.text ?? '';
}
