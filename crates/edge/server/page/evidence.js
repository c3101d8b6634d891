// Shows an evidence file: logs with colours, diffs side by side, images, JSON as a tree, notebooks cell by cell.
// Everything else, HTML and SVG too, is shown as text.

import { address, bytes, get } from './api.js';
import { ansi } from './ansi.js';
import { body, diff, isDiff, onDemand, readDiff, summary } from './diff.js';
import { h, put } from './dom.js';
import { count, size } from './format.js';
import { tree } from './tree.js';
import { t } from './words.js';
import { dialog, failure } from './widgets.js';

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
// The bytes that are fetched at first.
const FIRST_BYTES = 512 * 1024;
// The most files of a change that are listed at once, and the lines of the files that are open from the beginning.
const [FILES_SHOWN, LINES_OPEN] = [200, 600];

// Opens a file of a run in a dialog.
export function openEvidence(run, file) {
  const parts = ['runs', run, 'evidence', file.hash];
  const place = h('div', { class: 'evidence' }, h('p', { class: 'muted' }, t('loading')));
  const foot = h('p', { class: 'muted' }, `${file.media} · ${size(file.bytes)} · `, h('a', { href: address(parts), download: file.name }, t('download')));
  dialog(file.name, foot, place);
  load(parts, file, place, FIRST_BYTES);
}

// Opens a dialog with the changes of a run to its files so far.
export async function openDiff(run) {
  const place = h('div', { class: 'evidence' }, h('p', { class: 'muted' }, t('loading')));
  dialog(t('diff-of', { run }), place);
  try {
    put(place, changes(run, await get(['runs', run, 'diff'], { text: false })));
  } catch (error) {
    put(place, failure(error));
  }
}

// Lists all files that a run has changed, with their true counts. The lines of a file are fetched when it is opened; a
// short change is open from the beginning.
function changes(run, { files, total, note, missing_bytes: missing }) {
  if (files.length === 0) return h('p', { class: 'muted' }, note ?? t('no-diff'));
  const list = h('div', { class: 'diff' });
  let lines = 0;
  const append = (from) => {
    for (const file of files.slice(from, from + FILES_SHOWN)) {
      lines += (file.added ?? 0) + (file.removed ?? 0);
      list.append(onDemand(summary({ ...file, name: file.path, note: file.note }), lines <= LINES_OPEN, (place) => fileDiff(run, file.path, place)));
    }
    const rest = files.length - from - FILES_SHOWN;
    if (rest <= 0) return;
    const more = h('button', { type: 'button', class: 'small', onclick: () => { more.remove(); append(from + FILES_SHOWN); } }, t('more-files', { count: count(rest) }));
    list.append(more);
  };
  append(0);
  return [
    note ? h('p', {}, note) : null,
    h('p', { class: 'diff-total' }, t('diff-total', { files: count(total.files), added: count(total.added), removed: count(total.removed) }), ' · ',
      h('a', { href: address(['runs', run, 'diff', 'patch']), download: `${run}.diff` }, t('download-patch'))),
    missing ? h('p', { class: 'muted' }, t('more-bytes', { size: size(missing) })) : null,
    list,
  ];
}

async function fileDiff(run, path, place) {
  try {
    const { diff: text, more_bytes: more } = await get(['runs', run, 'diff'], { path });
    const file = readDiff(text)[0];
    put(place, file && file.rows.length ? body({ ...file, name: path }) : h('pre', { class: 'log' }, text || t('no-content')),
      more ? h('p', { class: 'muted' }, t('more-bytes', { size: size(more) })) : null);
  } catch (error) {
    put(place, failure(error));
  }
}

async function load(parts, file, place, length) {
  try {
    if (IMAGES.has(file.media)) return put(place, h('img', { src: address(parts), alt: file.name }));
    const { content, total } = file.bytes > 0 ? await bytes(parts, length) : { content: new Uint8Array(), total: 0 };
    const isWhole = content.length >= total;
    put(place, show(file, content, isWhole));
    if (!isWhole) place.append(h('button', { type: 'button', onclick: () => load(parts, file, place, 0) }, t('load-all', { size: size(total) })));
  } catch (error) {
    put(place, failure(error));
  }
}

function show(file, content, isWhole) {
  if (content.length === 0) return h('p', { class: 'muted' }, t('empty-file'));
  if (content.slice(0, 4000).includes(0)) return h('p', { class: 'muted' }, t('binary-file'));
  const text = new TextDecoder().decode(content);
  const isJson = /json/.test(file.media) || /\.(json|ipynb)$/.test(file.name) || (/^\s*[[{]/.test(text) && !file.media.includes('html'));
  if (isJson && isWhole) {
    const value = parse(text);
    if (Array.isArray(value?.cells)) return notebook(value);
    if (value !== undefined) return tree(value, 2);
  }
  // The counts of a diff that is not all here would be wrong.
  if (isDiff(text) && isWhole) return diff(text);
  return h('pre', { class: 'log', tabindex: '0' }, ansi(text));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function joined(text) {
  return Array.isArray(text) ? text.join('') : String(text ?? '');
}

// Shows the cells of a notebook with the text and the images of their outputs.
function notebook({ cells }) {
  return h('div', { class: 'notebook' }, cells.map((cell) => h('section', {},
    h('pre', { class: cell.cell_type === 'code' ? 'log source' : 'prose' }, joined(cell.source)),
    (cell.outputs ?? []).map(output))));
}

function output(given) {
  const image = ['image/png', 'image/jpeg'].find((media) => typeof joined(given.data?.[media]) === 'string' && given.data?.[media]);
  if (image) return h('img', { src: `data:${image};base64,${joined(given.data[image]).replace(/[^A-Za-z0-9+/=]/g, '')}`, alt: t('output') });
  const text = given.text ?? given.data?.['text/plain'] ?? given.traceback?.join('\n');
  return text ? h('pre', { class: 'log' }, ansi(joined(text))) : null;
}
