// A run: the chart with its active states, the timeline, any moment of the past, and the actions.
//
// The view has a moment: live, or a record that a person has selected. Chart, data and step show that moment.

import { get, text } from '../api.js';
import { actions, forkButton } from '../actions.js';
import { answer } from '../answer.js';
import { chart } from '../chart.js';
import { h, keyed, put, soon } from '../dom.js';
import { openEvidence } from '../evidence.js';
import { age, due } from '../format.js';
import { isLive } from '../live.js';
import { children, counters, dataPanel, evidencePanel, outputPanel, totalsPanel } from '../panels.js';
import { records } from '../records.js';
import { reportPanel } from '../report.js';
import { go, link, setQuery } from '../route.js';
import { step } from '../step.js';
import { timeline } from '../timeline.js';
import { outdated, phase, runLink, tabs } from '../widgets.js';
import { t } from '../words.js';

// The records that the trail on the chart is read from.
const TRAIL_RECORDS = 60;
// The refusals that the head of a run shows, the latest first. The report has all.
const REFUSED_SHOWN = 3;

// Shows a run.
export async function run({ main, name, query, canAct, signal, title, follow }) {
  title(name);
  // Notices are heard before the first answer, so that nothing between the two is lost.
  let [isReady, isWanted] = [false, false];
  follow((notice) => {
    const isMeant = notice.type === 'hello' || (notice.type === 'record' && (notice.run === name || notice.parent === name));
    if (isReady && ['live', 'stale', 'offline'].includes(notice.type)) showMoment();
    if (isMeant && isReady) reload();
    isWanted ||= isMeant;
  });
  const [first, svg] = await Promise.all([get(['runs', name], {}, signal), text(['runs', name, 'picture'], {}, signal)]);
  let now = first;
  let then = null;
  let moment = Number(query.at) > 0 ? Math.min(Number(query.at), first.seq) : null;

  const source = records(name, signal, () => { list.draw(); showMoment(); });
  source.grow(first.seq);
  const picture = chart(svg, { redraw: (names) => text(['runs', name, 'picture'], { collapse: names.join() }, signal) });
  const list = timeline(source, (seq) => select(seq));
  const [head, ask, limits, past, detail] = [h('div', { class: 'run-head' }), h('div', { class: 'ask-place' }), h('div', { class: 'limits' }), h('div', { class: 'past', role: 'status' }), h('div', { class: 'detail' })];
  const slider = h('input', { type: 'range', min: '1', max: String(first.seq), 'aria-label': t('moment'), oninput: () => select(Number(slider.value)) });
  const moreData = { redraw: null };
  const open = (file) => openEvidence(name, file);

  const state = () => then ?? now;
  // Shows everything that depends on the moment.
  const showMoment = () => {
    const at = moment ?? source.last;
    const seen = source.before(at, TRAIL_RECORDS);
    const taken = seen.flatMap((record) => record.taken.map((transition) => ({ transition, label: record.seq })));
    if (moment === null || then) picture.show({ active: state().configuration, taken });
    slider.max = String(source.last);
    slider.value = String(at);
    slider.setAttribute('aria-valuetext', t('record-n-of', { n: at, last: source.last }));
    put(past, moment === null
      ? [isLive() ? h('span', { class: 'live-mark' }, t('live')) : h('span', { class: 'stale-mark' }, t('not-live')), ' ', t('record-n-of', { n: at, last: source.last })]
      : [t('record-n-of', { n: at, last: source.last }), ' ', h('button', { type: 'button', class: 'small', onclick: () => select(null) }, t('back-to-live')), ' ', canAct ? forkButton(name, at) : null]);
    const record = source.at(at);
    if (record) put(detail, step(record, open));
    put(limits, counters(state().counters));
    moreData.redraw?.();
  };
  const loadThen = soon(async () => {
    const wanted = moment;
    if (wanted === null) return;
    const answered = await get(['runs', name, 'state', String(wanted)], {}, signal).catch(() => null);
    if (answered && wanted === moment) {
      then = answered;
      showMoment();
    }
  }, 40);
  // Selects a record; `null` and the last record are live.
  const select = (seq) => {
    moment = seq === null || seq >= source.last ? null : seq;
    if (moment === null) then = null;
    else loadThen();
    setQuery(moment === null ? {} : { at: moment });
    list.reveal(moment ?? source.last);
    showMoment();
  };

  // An event to an ended run is taken by another run, which continues it.
  const sentTo = (sent) => (sent?.continues ? go(link(['runs', sent.run])) : reload());
  const question = ({ offers, phase: is }) => {
    const isOver = !['active', 'waiting', 'paused'].includes(is);
    const title = isOver ? h('h2', {}, t('continue-run')) : h('h2', { class: 'sr' }, t('answer'));
    return h('section', { class: `card ask ${is === 'waiting' || offers.asked.length > 0 ? '' : 'idle'}`, 'aria-label': t(isOver ? 'continue-run' : 'answer') }, title, answer(name, offers, { canAct, done: sentTo }));
  };
  const isSure = (node) => node.querySelector('.sure') !== null;
  const drawNow = () => {
    keyed(head, [now], () => name, ({ phase: is, place, due: until, holder, abort, end, refused, continued_by: next }) => JSON.stringify([is, place, until, holder, abort, end, refused, next]),
      () => h('div', {}, heading(now), ended(now), canAct ? actions(now, reload) : null), { isHeld: isSure });
    const { events, by_hand: byHand, asked } = now.offers;
    const asks = events.length + byHand.length + asked.length > 0 ? [now] : [];
    keyed(ask, asks, () => name, ({ offers }) => JSON.stringify(offers), question, { onHeld: (node, isGone) => outdated(node, isGone, reload) });
  };
  const load = async () => {
    const grown = await get(['runs', name], {}, signal);
    const isNew = grown.seq > source.last;
    now = grown;
    source.grow(grown.seq);
    if (isNew || !source.at(grown.seq)) await source.load(grown.seq);
    drawNow();
    if (moment === null) list.reveal(source.last);
    list.draw();
    showMoment();
  };
  const reload = soon(() => load().catch(() => {}), 80);

  put(main, h('div', { class: 'page wide run' }, head,
    h('div', { class: 'split' },
      h('div', { class: 'left' }, picture.node, limits, h('h2', { class: 'sr' }, t('details')),
        tabs(t('details'), [
          [t('data'), () => dataPanel(moreData, state)],
          [t('report'), () => reportPanel(name, signal, follow, open)],
          [t('evidence'), () => evidencePanel(name, signal, open)],
          [t('totals'), () => totalsPanel(name, () => now, signal)],
          [t('output'), () => outputPanel(name, signal, follow)],
          ...(first.children.length ? [[t('children'), () => children(now.children, now.children_more)]] : []),
        ])),
      h('div', { class: 'right-side' }, ask, h('div', { class: 'moment' }, slider, past), h('h2', { class: 'sr' }, t('timeline')), list.node, detail))));
  drawNow();
  await source.load(moment ?? first.seq);
  select(moment);
  isReady = true;
  if (isWanted) reload();
}

// Shows why a run has ended, and what was refused to it.
function ended({ end, refused, phase: is }) {
  const last = refused.slice(-REFUSED_SHOWN).reverse();
  if (!end?.reason && last.length === 0) return null;
  return h('div', { class: `end ${is}` },
    end?.reason ? h('p', {}, h('b', {}, t(`phase-${is}`)), ': ', end.reason) : null,
    last.map(({ seq, refused: { what, rule, reason } }) => h('p', { class: 'refusal' }, h('b', {}, t('denied')), ' ', h('code', {}, what), ' ', t('by-rule', { rule }), ` (#${seq})`, reason ? `: ${reason}` : '')));
}

function heading(now) {
  return h('div', { class: 'head' },
    h('h1', {}, now.run), phase(now.phase),
    h('span', { class: 'mono place' }, now.place),
    h('span', { class: 'muted' }, h('a', { href: `/machines/${encodeURIComponent(now.machine)}` }, now.machine), ` ${t('version-n', { version: now.version })}`),
    now.parent ? h('span', { class: 'muted' }, t('child-of'), ' ', runLink(now.parent)) : null,
    now.continues ? h('span', { class: 'muted' }, t('continues'), ' ', runLink(now.continues.run)) : null,
    now.continued_by ? h('span', { class: 'continued' }, t('continued-by'), ' ', runLink(now.continued_by)) : null,
    h('span', { class: 'muted' }, t('created'), ' ', age(now.created)),
    now.due ? h('span', {}, t('deadline'), ' ', due(now.due)) : null,
    now.phase === 'active' && !now.holder ? h('span', { class: 'late' }, t('no-process')) : null);
}
