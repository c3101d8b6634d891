// Shows a unified diff side by side, or in one column where the page is narrow.

import { h } from './dom.js';
import { t } from './words.js';

// The most lines that are shown at once.
const LINES_MAX = 4000;

// Returns true if a text is a unified diff.
export function isDiff(text) {
  return /^(diff --git |--- .*\n\+\+\+ |Index: )/m.test(text.slice(0, 4000)) && /^@@ /m.test(text);
}

// Reads a unified diff into files with hunks of paired lines.
export function readDiff(text) {
  const files = [];
  let file = null;
  let pair = null;
  let [left, right] = [0, 0];
  const lines = text.split('\n').slice(0, LINES_MAX);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)/.exec(line);
    const isHead = line.startsWith('diff --git ') || (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ '));
    if (isHead) {
      if (line.startsWith('diff --git ') || !file || file.rows.length > 0) files.push(file = { name: nameOf(line), rows: [] });
      if (line.startsWith('--- ')) {
        file.name = bare(lines[at + 1].slice(4)) === '/dev/null' ? bare(line.slice(4)) : bare(lines[at + 1].slice(4));
        at += 1;
      }
      pair = null;
    } else if (hunk && file) {
      [left, right] = [Number(hunk[1]), Number(hunk[2])];
      file.rows.push({ kind: 'hunk', text: hunk[3].trim(), left, right });
      pair = null;
    } else if (file && file.rows.length > 0 && line.startsWith('-')) {
      if (!pair || pair.taken > 0) pair = { from: file.rows.length, taken: 0 };
      file.rows.push({ kind: 'change', left: { number: left++, text: line.slice(1) }, right: null });
    } else if (file && file.rows.length > 0 && line.startsWith('+')) {
      const open = pair ? file.rows[pair.from + pair.taken] : undefined;
      const added = { number: right++, text: line.slice(1) };
      if (open && open.right === null) {
        open.right = added;
        pair.taken += 1;
      } else file.rows.push({ kind: 'change', left: null, right: added });
    } else if (file && file.rows.length > 0 && line.startsWith(' ')) {
      const content = line.slice(1);
      file.rows.push({ kind: 'same', left: { number: left++, text: content }, right: { number: right++, text: content } });
      pair = null;
    }
  }
  return files;
}

function bare(name) {
  return name.split('\t')[0].replace(/^[ab]\//, '');
}

function nameOf(line) {
  return bare(line.replace(/^diff --git .* /, '').replace(/^--- /, ''));
}

// Shows a diff.
export function diff(text) {
  const files = readDiff(text).map(showFile);
  const rest = text.split('\n').length - LINES_MAX;
  return h('div', { class: 'diff' }, files, rest > 0 ? h('p', { class: 'muted' }, t('more-lines', { count: rest })) : null);
}

function showFile({ name, rows }) {
  const added = rows.filter((row) => row.kind === 'change' && row.right).length;
  const removed = rows.filter((row) => row.kind === 'change' && row.left).length;
  return h('details', { open: true },
    h('summary', {}, h('span', { class: 'mono' }, name), ' ', h('span', { class: 'plus' }, `+${added}`), ' ', h('span', { class: 'minus' }, `−${removed}`)),
    h('div', { class: 'diff-scroll', tabindex: '0', role: 'region', 'aria-label': name }, h('table', {}, h('colgroup', {}, ['line', '', 'line', ''].map((kind) => h('col', { class: kind }))), h('tbody', {}, rows.map(showRow)))));
}

function showRow(row) {
  if (row.kind === 'hunk') return h('tr', { class: 'hunk' }, h('td', { colspan: '4' }, `@@ −${row.left} +${row.right} `, row.text));
  const side = (line, changed) => [
    h('td', { class: 'line' }, line?.number ?? ''),
    h('td', { class: line && row.kind === 'change' ? changed : line ? '' : 'none' }, line?.text ?? ''),
  ];
  return h('tr', {}, side(row.left, 'minus'), side(row.right, 'plus'));
}
