// Small parts that several views share: messages, dialogs, phases, buttons that ask twice.

import { h, put } from './dom.js';
import { link } from './route.js';
import { release } from './typing.js';
import { t } from './words.js';

// The time for the second click on a button that asks twice, in milliseconds.
const SURE_MS = 6000;

// The time that a short message stays, in milliseconds.
const TOAST_MS = 5000;

// Shows a failure with its message and hint.
export function failure(error) {
  const message = error.code === 'OFFLINE' ? t('unreachable') : error.message;
  return h('div', { class: 'problem', role: 'alert' }, h('p', {}, message), error.hint ? h('p', { class: 'hint' }, t('hint'), ' ', error.hint) : null);
}

// Shows a phase: a coloured mark and its word.
export function phase(name) {
  return h('span', { class: `phase ${name}` }, t(`phase-${name}`));
}

// Marks a node that shows an old question because somebody types in it. The text stays until the person gives it up.
export function outdated(node, isGone, reload) {
  const known = node.querySelector(':scope > .outdated');
  if (known?.dataset.gone === String(isGone)) return;
  known?.remove();
  const drop = () => {
    release(node);
    node.querySelector(':scope > .outdated')?.remove();
    reload();
  };
  node.prepend(h('p', { class: 'outdated', role: 'status', 'data-gone': String(isGone) }, t(isGone ? 'question-gone' : 'question-changed'), ' ',
    h('button', { type: 'button', class: 'small', onclick: drop }, t(isGone ? 'drop-text' : 'show-new'))));
}

// Links to a run.
export function runLink(name, ...content) {
  return h('a', { href: link(['runs', name]), class: 'run-name' }, content.length ? content : name);
}

// Opens a dialog. Returns the function that closes it.
export function dialog(title, ...content) {
  const id = `d${Math.random().toString(36).slice(2)}`;
  const close = () => box.close();
  const box = h('dialog', { 'aria-labelledby': id, onclose: () => box.remove(), onclick: (event) => { if (event.target === box) close(); } },
    h('div', { class: 'dialog' },
      h('header', {}, h('h2', { id }, title), h('button', { type: 'button', class: 'quiet', 'aria-label': t('close'), onclick: close }, '✕')),
      h('div', { class: 'dialog-body' }, content)));
  document.body.append(box);
  box.showModal();
  return close;
}

// Shows a short message at the lower edge.
export function toast(...content) {
  let place = document.querySelector('.toasts');
  if (!place) {
    place = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });
    document.body.append(place);
  }
  const note = h('div', { class: 'toast' }, content);
  place.append(note);
  setTimeout(() => note.remove(), TOAST_MS);
}

// Makes a button that does some work. It is disabled meanwhile; a failure is shown in `place` or as a dialog.
// If `sure` has a reason, the work needs a second click.
export function action(label, work, { sure = null, kind = '', place = null, about = null } = {}) {
  let isSure = !sure;
  let timer = null;
  const calm = () => {
    clearTimeout(timer);
    isSure = !sure;
    put(button, label, about);
    button.classList.remove('sure');
  };
  const click = async () => {
    if (!isSure) {
      isSure = true;
      put(button, t('sure', { label, why: sure }));
      button.classList.add('sure');
      timer = setTimeout(calm, SURE_MS);
      return;
    }
    button.disabled = true;
    place?.replaceChildren();
    try {
      await work();
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (place) put(place, failure(error));
      else dialog(t('failed'), failure(error));
    } finally {
      button.disabled = false;
      calm();
    }
  };
  const button = h('button', { type: 'button', class: kind, onclick: click }, label, about);
  return button;
}

// Makes tabs: a list of `[label, build]`; the content of a tab is built when it is shown.
export function tabs(label, entries, first = 0) {
  const panel = h('div', { role: 'tabpanel', class: 'panel' });
  const select = (at) => {
    buttons.forEach((button, index) => {
      button.setAttribute('aria-selected', index === at);
      button.tabIndex = index === at ? 0 : -1;
    });
    panel.setAttribute('aria-label', entries[at][0]);
    put(panel, entries[at][1]());
  };
  const move = (event, at) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (at + step + entries.length) % entries.length;
    select(next);
    buttons[next].focus();
  };
  const buttons = entries.map(([name], at) => h('button', { type: 'button', role: 'tab', onclick: () => select(at), onkeydown: (event) => move(event, at) }, name));
  select(first);
  return h('div', { class: 'tabs' }, h('div', { role: 'tablist', 'aria-label': label }, buttons), panel);
}
