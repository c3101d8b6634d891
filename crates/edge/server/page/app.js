// The frame of the page: login, navigation, the view of the current address, banner, keyboard.

import { get, post, whenLoggedOut } from './api.js';
import { h, put, soon } from './dom.js';
import { listenToKeys, showHelp } from './keys.js';
import { connect, disconnect, follow } from './live.js';
import { go, onRoute, route } from './route.js';
import { themeButton } from './theme.js';
import { board } from './views/board.js';
import { inbox } from './views/inbox.js';
import { login } from './views/login.js';
import { machine } from './views/machine.js';
import { machines } from './views/machines.js';
import { run } from './views/run.js';
import { runs } from './views/runs.js';
import { start } from './views/start.js';
import { language, switchLanguage, t } from './words.js';
import { failure } from './widgets.js';

const VIEWS = [
  [/^\/$/, runs], [/^\/inbox$/, inbox], [/^\/board$/, board], [/^\/machines$/, machines],
  [/^\/machines\/([^/]+)$/, machine], [/^\/runs\/([^/]+)$/, run], [/^\/start\/([^/]+)$/, start],
];
const TABS = [['/', 'runs'], ['/inbox', 'inbox'], ['/board', 'board'], ['/machines', 'machines']];

const session = { name: '', role: 'viewer' };
const main = h('main', { id: 'main', tabindex: '-1' });
const banner = h('div', { class: 'banner', role: 'status', hidden: true });
const inboxCount = h('span', { class: 'number', hidden: true });
let leave = [];

function frame() {
  const link = ([path, key]) => h('a', { href: path, 'data-tab': path }, t(key), key === 'inbox' ? inboxCount : null);
  const bar = h('header', { class: 'bar' },
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, t('skip')),
    h('a', { class: 'brand', href: '/' }, 'Interlock'),
    h('nav', { 'aria-label': t('navigation') }, TABS.map(link)),
    h('div', { class: 'tools' },
      h('button', { type: 'button', class: 'quiet', title: t('keyboard'), 'aria-label': t('keyboard'), onclick: showHelp }, '?'),
      h('button', { type: 'button', class: 'quiet', lang: language === 'en' ? 'zh-CN' : 'en', onclick: switchLanguage }, t('other-language')),
      themeButton(),
      h('button', { type: 'button', class: 'quiet who', title: t('log-out'), onclick: logOut }, `${session.name} · ${t(`role-${session.role}`)}`)));
  document.body.replaceChildren(bar, banner, main);
}

// Shows the view of the current address.
function show() {
  leave.forEach((work) => work());
  leave = [];
  const { path, query } = route();
  for (const tab of document.querySelectorAll('[data-tab]')) {
    const base = tab.dataset.tab;
    const isCurrent = base === '/' ? path === '/' || path.startsWith('/runs/') : path.startsWith(base) || (base === '/machines' && path.startsWith('/start/'));
    tab.toggleAttribute('data-current', isCurrent);
    if (isCurrent) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  const found = VIEWS.map(([pattern, view]) => [pattern.exec(path), view]).find(([match]) => match);
  put(main);
  document.title = 'Interlock';
  if (!found) return put(main, h('p', { class: 'empty' }, t('no-page')));
  const [match, view] = found;
  const controller = new AbortController();
  leave.push(() => controller.abort());
  const context = {
    main, query, signal: controller.signal,
    // Only a person may act on runs; a program that works for a model may start them.
    canAct: ['operator', 'admin'].includes(session.role), canStart: session.role !== 'viewer',
    name: match[1] === undefined ? undefined : decodeURIComponent(match[1]),
    title: (title) => { document.title = `${title} · Interlock`; },
    onLeave: (work) => leave.push(work),
    follow: (listener) => leave.push(follow(listener)),
    fail: (error) => { if (error.name !== 'AbortError') put(main, failure(error)); },
  };
  Promise.resolve(view(context)).catch(context.fail);
}

// Counts the runs that wait for a person, for the tab.
const countInbox = soon(async () => {
  try {
    const { count, more } = await get(['inbox'], { count: true });
    inboxCount.hidden = count === 0;
    inboxCount.textContent = `${count}${more ? '+' : ''}`;
    inboxCount.title = t('inbox-count', { count: inboxCount.textContent });
  } catch { /* The banner tells that the connection is lost. */ }
}, 700);

function watch(notice) {
  if (notice.type === 'hello' || notice.type === 'record') countInbox();
  if (notice.type === 'offline' || notice.type === 'stale') {
    put(banner, t(notice.type));
    banner.hidden = false;
  }
  if (notice.type === 'live') banner.hidden = true;
}

async function logOut() {
  await post(['session', 'end']).catch(() => {});
  disconnect();
  location.assign('/');
}

async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code) {
    history.replaceState(null, '', location.pathname + location.search);
    await post(['session'], { code }).catch(() => {});
  }
  try {
    Object.assign(session, await get(['session']));
  } catch (error) {
    if (error.status !== 401) return document.body.replaceChildren(failure(error));
    return login(begin);
  }
  document.body.dataset.role = session.role;
  frame();
  connect();
  show();
}

whenLoggedOut(() => {
  disconnect();
  leave.forEach((work) => work());
  leave = [];
  login(begin);
});
follow(watch);
onRoute(show);
listenToKeys({ r: () => go('/'), i: () => go('/inbox'), b: () => go('/board'), m: () => go('/machines') });
begin();
