// Shows unified diffs side by side, or in one column where the page is narrow.

import { h, put } from './dom.js';
import { t } from './words.js';

// The most lines that are shown at once. Counts are those of all lines.
const LINES_MAX = 4000;

// Returns true if a text is a unified diff.
export function isDiff(text) {
  return /^(diff --git |--- .*\n\+\+\+ |Index: )/m.test(text.slice(0, 4000)) && /^@@ /m.test(text);
}

// Reads a unified diff into files with rows of paired lines and counts. The head of a hunk says how many lines it has, so
// content that looks like a head is content.
export function readDiff(text) {
  const files = [];
  let [file, shown] = [null, 0];
  let [old, now, left, right, open] = [0, 0, 0, 0, []];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const begin = (name) => files.push(file = { name, rows: [], added: 0, removed: 0, more: 0 });
  const show = (row) => {
    shown += 1;
    if (shown > LINES_MAX) file.more += 1;
    else file.rows.push(row);
    return row;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (old > 0 || now > 0) {
      const [sign, content] = [line[0], line.slice(1)];
      if (sign === '\\') continue;
      if (sign === '-') {
        file.removed += 1;
        old -= 1;
        open.push(show({ kind: 'change', left: { number: left++, text: content }, right: null }));
      } else if (sign === '+') {
        file.added += 1;
        now -= 1;
        const pair = open.shift();
        if (pair) pair.right = { number: right++, text: content };
        else show({ kind: 'change', left: null, right: { number: right++, text: content } });
      } else {
        [old, now, open] = [old - 1, now - 1, []];
        show({ kind: 'same', left: { number: left++, text: content }, right: { number: right++, text: content } });
      }
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)/.exec(line);
    if (line.startsWith('diff --git ')) begin(nameOf(line));
    else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      if (!file || file.rows.length > 0) begin('');
      const names = [bare(lines[at + 1].slice(4)), bare(line.slice(4))];
      file.name = names.find((name) => name !== '/dev/null') ?? file.name;
      at += 1;
    } else if (hunk && file) {
      [left, right, old, now, open] = [Number(hunk[1]), Number(hunk[3]), Number(hunk[2] ?? 1), Number(hunk[4] ?? 1), []];
      show({ kind: 'hunk', text: hunk[5].trim(), left, right });
    }
  }
  return files;
}

function bare(name) {
  return name.split('\t')[0].replace(/^[ab]\//, '');
}

// Both names of `diff --git a/x b/x` are the same, because renames are written as two files.
function nameOf(line) {
  const names = line.slice('diff --git '.length);
  return bare(names.slice(0, Math.floor(names.length / 2)));
}

// Shows a diff.
export function diff(text) {
  return h('div', { class: 'diff' }, readDiff(text).map((file) => h('details', { open: true }, summary(file), body(file))));
}

// Shows the name and the counts of a file.
export function summary({ name, added, removed, note }) {
  const counts = added === null || added === undefined
    ? h('span', { class: 'muted' }, note ?? '')
    : [h('span', { class: 'plus' }, `+${added}`), ' ', h('span', { class: 'minus' }, `−${removed}`)];
  return h('summary', {}, h('span', { class: 'mono' }, name), ' ', counts);
}

// Shows the lines of a file.
export function body({ name, rows, more }) {
  return [
    h('div', { class: 'diff-scroll', tabindex: '0', role: 'region', 'aria-label': name }, h('table', {}, h('colgroup', {}, ['line', '', 'line', ''].map((kind) => h('col', { class: kind }))), h('tbody', {}, rows.map(showRow)))),
    more ? h('p', { class: 'muted' }, t('more-lines', { count: more })) : null,
  ];
}

// Makes a part that fetches its content when it is opened for the first time.
export function onDemand(head, isOpen, load) {
  const place = h('div', {});
  const fetchOnce = () => {
    if (box.open && !box.dataset.loaded) {
      box.dataset.loaded = 'yes';
      put(place, h('p', { class: 'muted' }, t('loading')));
      load(place);
    }
  };
  const box = h('details', { ontoggle: fetchOnce, open: isOpen }, head, place);
  return box;
}

function showRow(row) {
  if (row.kind === 'hunk') return h('tr', { class: 'hunk' }, h('td', { colspan: '4' }, `@@ −${row.left} +${row.right} `, row.text));
  const side = (line, changed) => [
    h('td', { class: 'line' }, line?.number ?? ''),
    h('td', { class: line && row.kind === 'change' ? changed : line ? '' : 'none' }, line?.text ?? ''),
  ];
  return h('tr', {}, side(row.left, 'minus'), side(row.right, 'plus'));
}
