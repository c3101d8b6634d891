// The list of machines.

import { get } from '../api.js';
import { h, put } from '../dom.js';
import { link, setQuery } from '../route.js';
import { t } from '../words.js';

// Shows the list.
export async function machines({ main, query, canStart, signal, title }) {
  title(t('machines'));
  const { folders } = await get(['folders'], {}, signal);
  const { machines: all } = await get(['machines'], { folder: query.folder }, signal);
  const body = h('tbody', {});
  const search = h('input', { type: 'search', placeholder: t('search'), 'aria-label': t('search'), oninput: () => { setQuery({ ...query, q: search.value }); draw(); } });
  search.value = query.q ?? '';
  const draw = () => {
    const words = search.value.trim().toLowerCase();
    put(body, all.filter(({ id, summary }) => `${id} ${summary}`.toLowerCase().includes(words)).map((machine) => row(machine, query.folder, canStart)));
  };
  put(main, h('div', { class: 'page' },
    h('div', { class: 'head' }, h('h1', {}, t('machines')), h('div', { class: 'filters', role: 'search' }, search, folderChoice(folders, query.folder))),
    h('div', { class: 'scroll' }, h('table', { class: 'list' }, h('thead', {}, h('tr', {}, ['machine', 'summary', 'version', 'origin'].map((key) => h('th', { scope: 'col' }, t(key))), h('th', {}, h('span', { class: 'sr' }, t('start'))))), body))));
  draw();
}

function folderChoice(folders, current) {
  if (folders.length < 2) return null;
  const choose = h('select', { 'aria-label': t('folder'), onchange: () => location.assign(link(['machines'], { folder: choose.value })) },
    folders.map((folder) => h('option', { value: folder, selected: folder === current }, folder)));
  return choose;
}

function row({ id, version, summary, origin, path }, folder, canStart) {
  return h('tr', {},
    h('th', { scope: 'row' }, h('a', { href: link(['machines', id], { folder }) }, id)),
    h('td', { class: 'wrap' }, summary),
    h('td', {}, version),
    h('td', { title: path }, origin),
    h('td', {}, canStart ? h('a', { class: 'button small', href: link(['start', id], { folder }) }, t('start')) : null));
}
