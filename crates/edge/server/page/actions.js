// The actions on a run: pause, resume, abort, undo with a preview, fork, report.

import { address, post } from './api.js';
import { h, put } from './dom.js';
import { openDiff } from './evidence.js';
import { go, link } from './route.js';
import { action, dialog, failure, toast } from './widgets.js';
import { drafted } from './typing.js';
import { t } from './words.js';

// Makes the buttons that a run has now. `done` is called after an action.
export function actions(run, done) {
  const name = run.run;
  const act = (verb) => async () => {
    await post(['runs', name, verb]);
    toast(t(`did-${verb}`, { run: name }));
    done();
  };
  const isOpen = ['active', 'waiting', 'paused'].includes(run.phase);
  const isLost = run.phase === 'active' && !run.holder;
  return h('div', { class: 'buttons' },
    run.phase === 'paused' || isLost ? action(t('resume'), act('resume'), { kind: 'primary' }) : null,
    isOpen && run.phase !== 'paused' ? action(t('pause'), act('pause')) : null,
    isOpen && run.abort ? action(t('abort'), act('abort'), { sure: t('abort-why') }) : null,
    h('button', { type: 'button', onclick: () => openDiff(name) }, t('diff')),
    h('button', { type: 'button', onclick: () => undo(name, done) }, t('undo')),
    grantButton(name, isOpen, done),
    h('a', { class: 'button', href: address(['runs', name, 'report']), download: `${name}.html` }, t('report')));
}

function grantButton(run, isOpen, done) {
  if (!isOpen) return null;
  const ask = () => {
    const scope = h('input', { type: 'text', id: 'scope', spellcheck: 'false', placeholder: 'net.connect:example.org' });
    const uses = h('input', { type: 'number', id: 'uses', min: '1', value: '1' });
    const place = h('div', {});
    const give = async () => {
      await post(['runs', run, 'grant'], { scopes: [scope.value.trim()], uses: Number(uses.value) || 1 });
      toast(t('granted', { run }));
      forget();
      close();
      done();
    };
    const fields = h('div', { class: 'fields' }, h('div', { class: 'field' }, h('label', { for: 'scope' }, t('scope')), scope), h('div', { class: 'field' }, h('label', { for: 'uses' }, t('uses')), uses));
    const forget = drafted(`grant ${run}`, fields);
    const close = dialog(t('grant'), h('p', { class: 'muted' }, t('grant-about')), fields,
      place, h('div', { class: 'buttons' }, action(t('grant'), give, { kind: 'primary', place })));
  };
  return h('button', { type: 'button', onclick: ask }, t('grant'));
}

// Makes the button that forks a run at a record.
export function forkButton(run, at) {
  return action(t('fork-here'), async () => {
    const forked = await post(['runs', run, 'fork'], { at });
    toast(t('forked', { run: forked.run }));
    go(link(['runs', forked.run]));
  }, { kind: 'small', sure: t('fork-why') });
}

// Shows what an undo would change, then undoes it.
async function undo(run, done) {
  const place = h('div', {}, h('p', { class: 'muted' }, t('loading')));
  const close = dialog(t('undo-title', { run }), place);
  try {
    const plan = await post(['runs', run, 'undo'], { dry_run: true });
    put(place, preview(run, plan, () => { close(); done(); }));
  } catch (error) {
    put(place, failure(error));
  }
}

function preview(run, plan, done) {
  const isEmpty = plan.files.length === 0 && plan.commits.length === 0 && plan.conflicts.length === 0;
  if (isEmpty && plan.unknown.length === 0 && !plan.not_kept?.length) return h('p', {}, t('nothing-to-undo'));
  const place = h('div', {});
  const send = (skip) => async () => {
    const answer = await post(['runs', run, 'undo'], { dry_run: false, skip_conflicts: skip });
    if (!answer.done) return put(place, preview(run, answer, done));
    toast(t('undone', { run, count: answer.files.length }));
    done();
  };
  const value = (name) => (name.startsWith('ref: ') ? name.slice(5) : name.slice(0, 10));
  const paths = (title, entries, show) => (entries?.length ? [h('h3', { class: 'label' }, title), h('ul', { class: 'plain mono' }, entries.map((entry) => h('li', {}, show(entry))))] : null);
  return h('div', {},
    paths(t('undo-files'), plan.files, (file) => (typeof file === 'string' ? file : `${file.path ?? JSON.stringify(file)}${file.change ?? file.kind ? ` (${file.change ?? file.kind})` : ''}`)),
    paths(t('undo-commits'), plan.commits, (commit) => `${commit.reference} ${value(commit.after)} → ${value(commit.before ?? '–')}`),
    paths(t('undo-conflicts'), plan.conflicts, ({ path, why, view }) => [path, ' ', h('span', { class: 'muted' }, why), view ? h('details', {}, h('summary', {}, t('show')), h('pre', { class: 'log' }, view)) : null]),
    paths(t('undo-not-kept'), plan.not_kept, ({ path, why }) => `${path} ${typeof why === 'string' ? why : JSON.stringify(why)}`),
    paths(t('undo-unknown'), plan.unknown, ([seq, why]) => `#${seq} ${why}`),
    place,
    h('div', { class: 'buttons' }, plan.refused || plan.conflicts.length
      ? action(t('undo-rest'), send(true), { kind: 'primary', sure: t('undo-why'), place })
      : action(t('undo'), send(false), { kind: 'primary', sure: t('undo-why'), place })));
}
