// The board: runs as cards, in columns by state of one machine or by phase of all. The place to supervise many runs.

import { get, post } from '../api.js';
import { answer } from '../answer.js';
import { h, keyed, latest, put, soon } from '../dom.js';
import { openDiff } from '../evidence.js';
import { age, childrenSpent, count, due, spentText } from '../format.js';
import { progress } from '../live.js';
import { go, link } from '../route.js';
import { action, dialog, phase, runLink } from '../widgets.js';
import { t } from '../words.js';
import { waits } from './runs.js';

// The cards of a phase that are loaded at a time.
const PAGE = 30;
const OPEN = ['waiting', 'active', 'paused'];
const ENDED = ['failed', 'incomplete', 'succeeded', 'aborted'];
const PHASES = [...OPEN, ...ENDED];

// Shows the board. Each phase is loaded by itself, so that many runs of one phase never hide those of another, and the
// numbers are those of the store, not of what is loaded.
export async function board({ main, query, canAct, signal, title, follow }) {
  title(t('board'));
  const [totals, columns] = [h('p', { class: 'muted totals' }), h('div', { class: 'columns' })];
  const { machines } = await get(['machines'], {}, signal);
  const states = query.machine ? await statesOf(query.machine, signal) : [];
  const pages = Object.fromEntries(PHASES.map((name) => [name, 1]));
  let [shown, counted] = [[], {}];
  const loaded = (name) => shown.filter((run) => run.phase === name).length;
  const draw = () => {
    const groups = query.machine
      ? byState(shown, states)
      : PHASES.map((name) => ({ name, runs: shown.filter((run) => run.phase === name), label: phase(name), total: counted[name] ?? 0 }));
    const filled = groups.filter((group) => query.machine || group.total > 0 || group.runs.length > 0 || group.name === 'active' || group.name === 'waiting');
    keyed(columns, filled, (group) => group.name, () => '', column);
    filled.forEach(({ name, runs, total }, at) => {
      const [head, cards, foot] = columns.children[at].children;
      // Of the runs in a state, those of a phase that is not all loaded may be more.
      const isCut = runs.some((run) => loaded(run.phase) < (counted[run.phase] ?? 0));
      head.lastChild.textContent = total === undefined ? `${runs.length}${isCut ? '+' : ''}` : count(Math.max(total, runs.length));
      keyed(cards, runs, (run) => run.run, (run) => JSON.stringify([run.seq, run.phase, run.waits, run.spent, run.children_spent, run.doing]), (run) => card(run, canAct), { isHeld: isAsking });
      put(foot, total > runs.length ? moreButton([name]) : null);
    });
    const cut = PHASES.filter((name) => loaded(name) < (counted[name] ?? 0));
    put(totals, PHASES.filter((name) => counted[name] > 0).map((name) => [phase(name), ` ${count(counted[name])} `]), query.machine && cut.length ? moreButton(cut) : null);
    for (const run of progress.keys()) tell(columns, run);
  };
  const moreButton = (names) => {
    const [have, all] = [names.reduce((sum, name) => sum + loaded(name), 0), names.reduce((sum, name) => sum + counted[name], 0)];
    return action(t('load-more', { shown: count(have), total: count(all) }), () => {
      for (const name of names) pages[name] += 1;
      return load();
    }, { kind: 'small' });
  };
  const part = async (name) => {
    const runs = [];
    let before;
    for (let page = 0; page < pages[name] && before !== null; page += 1) {
      const answer = await get(['runs'], { machine: query.machine, phase: name, limit: PAGE, before, spent: true }, signal);
      runs.push(...answer.runs);
      before = answer.next;
    }
    return runs;
  };
  const load = latest(async () => {
    const { phases } = await get(['phases'], { machine: query.machine }, signal);
    const parts = await Promise.all(PHASES.filter((name) => phases[name] > 0).map(part));
    return { phases, runs: parts.flat() };
  }, ({ phases, runs }) => {
    counted = phases;
    // A run that moved between two answers is in both.
    shown = [...new Map(runs.map((run) => [run.run, run])).values()];
    draw();
  });
  const reload = soon(() => load().catch(() => {}), 500);
  const choose = h('select', { 'aria-label': t('machine'), onchange: () => go(link(['board'], { machine: choose.value })) },
    h('option', { value: '' }, t('all-by-phase')), machines.map(({ id }) => h('option', { value: id, selected: id === query.machine }, id)));
  put(main, h('div', { class: 'page wide' }, h('div', { class: 'head' }, h('h1', {}, t('board')), h('div', { class: 'filters' }, choose)), totals, columns));
  follow((notice) => {
    if (notice.type === 'progress') return tell(columns, notice.run);
    if (notice.type === 'hello') return reload();
    if (notice.type !== 'record') return;
    // The card of a run shows the cost of its child runs, which can be runs of other machines.
    if (shown.some(({ run }) => notice.run.startsWith(`${run}.`))) reload();
    if (query.machine && notice.machine !== query.machine) return;
    const found = shown.find(({ run }) => run === notice.run);
    if (!found) return reload();
    if (notice.seq >= found.seq) {
      if (found.phase !== notice.phase) counted = { ...counted, [found.phase]: Math.max(0, (counted[found.phase] ?? 0) - 1), [notice.phase]: (counted[notice.phase] ?? 0) + 1 };
      Object.assign(found, { seq: notice.seq, phase: notice.phase, place: notice.place, updated: notice.updated, due: notice.due ?? null });
    }
    draw();
    reload();
  });
  await load();
}

async function statesOf(machine, signal) {
  const described = await get(['machines', machine], {}, signal);
  return described.states.filter(({ kind }) => kind === 'atomic' || kind === 'final').map(({ id }) => id);
}

// Returns the columns that have runs, in the order of the machine.
function byState(shown, states) {
  const places = [...new Set(shown.map((run) => run.place))];
  const rank = (place) => {
    const at = states.indexOf(place.split(', ')[0]);
    return at < 0 ? states.length : at;
  };
  places.sort((a, b) => rank(a) - rank(b));
  return places.map((name) => ({ name, label: h('span', { class: 'mono' }, name), runs: shown.filter((run) => run.place === name) }));
}

// A card that asks for the second click keeps its button until then.
function isAsking(node) {
  return node.querySelector('.sure') !== null;
}

function column({ name, label }) {
  return h('section', { class: 'column', 'aria-label': name }, h('h2', {}, label, ' ', h('span', { class: 'muted' })), h('div', { class: 'cards' }), h('div', { class: 'buttons' }));
}

function card(run, canAct) {
  const isOpen = OPEN.includes(run.phase);
  const facts = spentText(run.spent);
  return h('article', { class: `card small-card ${run.phase}`, 'data-run': run.run },
    h('header', {}, runLink(run.run), h('span', { class: 'right muted' }, age(run.updated))),
    h('p', { class: 'muted facts-line' }, h('span', { class: 'mono' }, run.machine, ' · ', run.place), due(run.due)),
    h('p', { class: 'now' }, isOpen ? waits(run) : ''),
    facts ? h('p', { class: 'muted spent', title: t('spent') }, facts) : null,
    childrenSpent(run.children_spent),
    canAct && isOpen ? h('div', { class: 'buttons' },
      run.phase === 'paused'
        ? action(t('resume'), () => post(['runs', run.run, 'resume']), { kind: 'small' })
        : [h('button', { type: 'button', class: run.phase === 'waiting' ? 'small primary' : 'small', onclick: () => ask(run.run) }, run.phase === 'waiting' ? t('answer') : t('message')),
          action(t('pause'), () => post(['runs', run.run, 'pause']), { kind: 'small' })],
      diffButton(run.run),
      action(t('abort'), () => post(['runs', run.run, 'abort']), { kind: 'small quiet', sure: t('abort-why') })) : run.diff ? h('div', { class: 'buttons' }, diffButton(run.run)) : null);
}

function diffButton(run) {
  return h('button', { type: 'button', class: 'small', onclick: () => openDiff(run) }, t('diff'));
}

// Opens the answer panel of a run.
async function ask(run) {
  const place = h('div', {}, t('loading'));
  const close = dialog(run, place);
  const shown = await get(['runs', run]);
  const hasAny = shown.offers.events.length + shown.offers.by_hand.length > 0;
  put(place, hasAny ? answer(run, shown.offers, { input: shown.input, done: () => close() }) : h('p', { class: 'muted' }, t('accepts-nothing')));
}

function tell(columns, run) {
  const found = [...columns.querySelectorAll('.card')].find((card) => card.dataset.run === run);
  const place = found?.querySelector('.now');
  if (place && progress.has(run)) place.textContent = progress.get(run).text;
}
