// A machine: its picture with search, its proof with counterexamples that can be stepped through, its source.

import { get, text } from '../api.js';
import { chart } from '../chart.js';
import { h, put } from '../dom.js';
import { count, duration } from '../format.js';
import { link } from '../route.js';
import { failure, tabs } from '../widgets.js';
import { t } from '../words.js';

// Shows a machine.
export async function machine({ main, name, query, canStart, signal, title }) {
  title(name);
  const folder = { folder: query.folder };
  const [described, svg] = await Promise.all([get(['machines', name], folder, signal), text(['machines', name, 'picture'], folder, signal)]);
  const info = h('div', { class: 'state-info', 'aria-live': 'polite' });
  const redraw = (names) => text(['machines', name, 'picture'], { ...folder, collapse: names.join() }, signal);
  const picture = chart(svg, { redraw, onState: (state) => put(info, stateInfo(described, state)) });
  const found = h('span', { class: 'muted', role: 'status' });
  const search = h('input', { type: 'search', placeholder: t('find-state'), 'aria-label': t('find-state'), oninput: async () => {
    const number = await picture.find(search.value);
    found.textContent = search.value ? t('found', { count: number }) : '';
  } });
  const proof = h('div', {}, h('p', { class: 'muted' }, t('proving')));
  put(main, h('div', { class: 'page wide' },
    h('div', { class: 'head' }, h('h1', {}, name), h('span', { class: 'muted' }, t('version-n', { version: described.version })),
      h('div', { class: 'filters', role: 'search' }, search, found),
      h('div', { class: 'right buttons' },
        h('a', { class: 'button', href: link([], { machine: name }) }, t('runs')),
        h('a', { class: 'button', href: link(['board'], { machine: name }) }, t('board')),
        canStart ? h('a', { class: 'button primary', href: link(['start', name], folder) }, t('start')) : null)),
    h('p', { class: 'lead' }, described.summary),
    h('div', { class: 'split' },
      h('div', {}, picture.node, info),
      tabs(name, [
        [t('proof'), () => proof],
        [t('states-n', { count: described.states.length }), () => stateTable(described)],
        [t('source'), () => h('pre', { class: 'log source', tabindex: '0' }, described.source)],
      ]))));
  picture.reveal(described.initial);
  picture.overview().then(() => picture.reveal(described.initial));
  try {
    put(proof, showProof(await get(['machines', name, 'check'], folder, signal), described, picture));
  } catch (error) {
    if (error.name !== 'AbortError') put(proof, failure(error));
  }
}

function stateInfo({ states, transitions }, id) {
  const state = states.find((one) => one.id === id);
  if (!state) return null;
  const leaving = transitions.filter(({ source }) => source === id);
  return h('section', { class: 'card' },
    h('h2', { class: 'mono' }, id, ' ', h('span', { class: 'muted' }, state.kind)),
    state.summary ? h('p', {}, state.summary) : null,
    state.activities.length ? h('p', { class: 'mono' }, state.activities.join(', ')) : null,
    state.timeout_ms ? h('p', { class: 'muted' }, t('times-out', { time: duration(state.timeout_ms) })) : null,
    h('ul', { class: 'plain' }, leaving.map(({ event, target, guard, limit, reason }) => h('li', {},
      h('span', { class: 'event' }, event ?? t('always')), ' → ', h('b', { class: 'mono' }, target ?? '–'),
      guard ? [' ', h('code', {}, guard)] : null, limit ? ` ≤ ${limit}` : null, reason ? h('span', { class: 'muted' }, ` ${reason}`) : null))));
}

function stateTable({ states }) {
  return h('table', { class: 'list' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('state')), h('th', { scope: 'col' }, t('kind')), h('th', { scope: 'col' }, t('summary')))),
    h('tbody', {}, states.map(({ id, kind, summary }) => h('tr', {}, h('th', { scope: 'row', class: 'mono' }, id), h('td', {}, kind), h('td', { class: 'wrap' }, summary)))));
}

function showProof(report, described, picture) {
  const { bound } = report;
  const limits = (given) => t('bound', { transitions: count(given.transitions), activities: count(given.activities), judgements: count(given.judgements) });
  return [
    h('p', { class: report.ok ? 'verdict ok' : 'verdict bad' }, report.ok ? t('proved') : t('not-proved')),
    h('p', { class: 'muted' }, t('explored', { count: count(report.total?.configurations ?? report.explored) })),
    bound ? h('dl', { class: 'facts' }, h('dt', {}, t('per-input')), h('dd', {}, limits(bound)), bound.run ? [h('dt', {}, t('per-run')), h('dd', {}, limits(bound.run))] : null) : null,
    h('ul', { class: 'properties' }, report.properties.map((property) => claim(property, described, picture))),
    report.problems.length ? h('ul', { class: 'properties' }, report.problems.map((problem) => claim({ name: `${problem.code}: ${problem.message}`, because: problem.hint, ok: false, counterexample: problem.counterexample }, described, picture))) : null,
  ];
}

function claim({ name, because, ok, counterexample }, described, picture) {
  return h('li', { class: ok ? 'ok' : 'bad' },
    h('span', { class: 'sr' }, ok ? t('holds') : t('fails')), h('span', { class: 'mono' }, name),
    because ? h('div', { class: 'muted' }, because) : null,
    counterexample ? stepper(counterexample, described, picture) : null);
}

// Steps through a counterexample on the chart.
function stepper({ steps, loops_to: loop }, described, picture) {
  let at = 0;
  const rows = steps.map(({ event, by, to }, index) => h('li', {}, h('button', { type: 'button', class: 'link', onclick: () => show(index) }, `${event}${by ? ` (${by})` : ''} → ${to.join(' + ')}`)));
  const show = async (index) => {
    await picture.expand();
    at = Math.min(steps.length - 1, Math.max(0, index));
    rows.forEach((row, number) => row.toggleAttribute('data-current', number === at));
    const taken = steps.slice(0, at + 1).flatMap((step, number) => numbers(step, described).map((transition) => ({ transition, label: number + 1 })));
    picture.show({ active: steps[at].states ?? withParents(steps[at].to, described), taken });
  };
  return h('div', { class: 'steps' }, h('ol', {}, rows),
    loop === null || loop === undefined ? null : h('p', { class: 'muted' }, t('loops-to', { step: loop + 1 })),
    h('div', { class: 'buttons' },
      h('button', { type: 'button', class: 'small', onclick: () => show(0) }, t('from-start')),
      h('button', { type: 'button', class: 'small', onclick: () => show(at - 1) }, t('back')),
      h('button', { type: 'button', class: 'small', onclick: () => show(at + 1) }, t('forward'))));
}

function numbers(step, { transitions }) {
  if (step.transitions) return step.transitions;
  const found = transitions.find(({ source, event, target }) => event === step.event && step.from.includes(source) && (step.to.includes(target) || target === null));
  return found ? [found.index] : [];
}

function withParents(names, { states }) {
  const parents = new Map(states.map(({ id, parent }) => [id, parent]));
  const found = new Set();
  for (let name of names) for (let depth = 0; name && depth < 50; depth += 1, name = parents.get(name)) found.add(name);
  return [...found];
}
