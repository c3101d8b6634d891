// Starts a run: a form made from the input schema of the machine, with directory, name and agent.

import { get, post } from '../api.js';
import { h, put } from '../dom.js';
import { form, sendWithKeys } from '../form.js';
import { go, link } from '../route.js';
import { action } from '../widgets.js';
import { drafted } from '../typing.js';
import { t } from '../words.js';

// Shows the form.
export async function start({ main, name, query, canStart, signal, title }) {
  title(t('start-machine', { machine: name }));
  if (!canStart) return put(main, h('p', { class: 'empty' }, t('viewer-only')));
  const { folders } = await get(['folders'], {}, signal);
  const chosen = query.folder ?? folders[0] ?? '';
  const [described, { agents }] = await Promise.all([get(['machines', name], { folder: query.folder }, signal), get(['agents'], { folder: query.folder }, signal).catch(() => ({ agents: [] }))]);
  // A field for the repository is the directory that the run works in.
  const value = described.input?.properties?.repo_path ? { repo_path: chosen } : undefined;
  const input = form(described.input, { value });
  const folder = h('select', { id: 'folder' }, folders.map((path) => h('option', { value: path, selected: path === chosen }, path)));
  const run = h('input', { id: 'name', type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: '100', placeholder: t('name-default') });
  const agent = h('select', { id: 'agent' }, h('option', { value: '' }, t('default-agent')), agents.map((one) => h('option', { value: one.name ?? one }, one.name ?? one)));
  const place = h('div', {});
  const send = async () => {
    const body = { machine: name, folder: folder.value, input: input.read() ?? {}, name: run.value.trim() || undefined, agent: agent.value || undefined };
    const started = await post(['runs'], body);
    forget();
    go(link(['runs', started.run]));
  };
  const button = action(t('start'), send, { kind: 'primary', place });
  const fields = h('form', { class: 'card', onsubmit: (event) => { event.preventDefault(); button.click(); } },
    input.node,
    h('div', { class: 'fields meta' },
      h('div', { class: 'field' }, h('label', { for: 'folder' }, t('folder')), folder),
      h('div', { class: 'field' }, h('label', { for: 'name' }, t('run-name'), h('span', { class: 'optional' }, ' ', t('optional'))), run),
      agents.length ? h('div', { class: 'field' }, h('label', { for: 'agent' }, t('agent')), agent) : null),
    place, h('div', { class: 'buttons' }, button));
  const forget = drafted(`start ${name} ${chosen}`, fields);
  put(main, h('div', { class: 'page narrow' },
    h('div', { class: 'head' }, h('h1', {}, t('start-machine', { machine: name }))),
    h('p', { class: 'lead' }, described.summary, ' ', h('a', { href: link(['machines', name], { folder: query.folder }) }, t('picture-and-proof'))),
    sendWithKeys(fields, button)));
}
