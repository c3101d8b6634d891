// Keyboard shortcuts: `g` and a letter goes to a view, `/` searches, `?` lists the shortcuts.

import { h } from './dom.js';
import { FIELDS } from './typing.js';
import { t } from './words.js';
import { dialog } from './widgets.js';

// The time within which the second key must follow, in milliseconds.
const PAIR_MS = 1200;

// The time after a typed letter during which further letters are not shortcuts, in milliseconds: the field may have gone
// while a person types.
const TYPING_MS = 3000;

let [first, typedAt] = [0, 0];

// The keys with which a person leaves a field.
const LEAVING = new Set(['Tab', 'Escape']);
addEventListener('pointerdown', () => { typedAt = 0; }, true);

// Listens to shortcuts; `places` has a function for each letter after `g`.
export function listenToKeys(places) {
  addEventListener('keydown', (event) => {
    const isTyping = event.target.closest?.(FIELDS);
    if (isTyping) typedAt = LEAVING.has(event.key) ? 0 : Date.now();
    else if (Date.now() - typedAt < TYPING_MS) {
      typedAt = Date.now();
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const isPair = Date.now() - first < PAIR_MS;
    first = 0;
    if (isPair && places[event.key]) places[event.key]();
    else if (event.key === 'g') first = Date.now();
    else if (event.key === '/') focusSearch();
    else if (event.key === '?') showHelp();
    else return;
    event.preventDefault();
  });
}

function focusSearch() {
  document.querySelector('main input[type=search]')?.focus();
}

// Lists the shortcuts.
export function showHelp() {
  const rows = [['g r', 'runs'], ['g i', 'inbox'], ['g b', 'board'], ['g m', 'machines'], ['/', 'key-search'],
    ['↑ ↓', 'key-rows'], ['+ − 0', 'key-zoom'], ['Ctrl Enter', 'key-send'], ['Esc', 'key-close'], ['?', 'keyboard']];
  const row = ([keys, key]) => h('tr', {}, h('td', {}, keys.split(' ').map((name) => [h('kbd', {}, name), ' '])), h('td', {}, t(key)));
  dialog(t('keyboard'), h('table', { class: 'keys' }, rows.map(row)));
}
