// Follows the store: one stream of notices for all windows of a browser, because a browser allows only six connections to
// a server. The window that holds the lock has the stream and passes its notices on. A stream continues after the last
// number that was seen, so nothing is missed and nothing is seen twice; views fetch their data again at each `hello`.

import { plain } from './ansi.js';
import { address } from './api.js';

// The time after which a stream that the server refused is opened again, and after which a hidden page gives up its
// stream, in milliseconds.
const [RETRY_MS, HIDDEN_MS] = [1500, 2000];
// The number of signs of life that may be missing before a stream is stale, and how often that is looked at.
const [MISSED_MAX, LOOK_MS] = [3, 1000];
const LOCK = 'interlock-live';

const listeners = new Set();
// The latest progress text of each run; it is not stored anywhere else.
export const progress = new Map();
const others = new BroadcastChannel(LOCK);
let [source, last] = [null, null];
// `connecting` until the first event; then `live`, `stale` if nothing is heard any more, or `offline` if the connection
// is lost. A proxy that holds events back looks like a stale stream.
let state = 'connecting';
let [heardAt, aliveMs] = [0, 5000];
// The wish for notices, the place in the queue for the lock, and the function that gives the lock back.
let [isWanted, queue, release] = [false, null, null];

// Returns true if notices arrive at once.
export function isLive() {
  return state === 'live';
}

// Calls a function for each notice: `{type: 'hello' | 'record' | 'progress' | 'live' | 'stale' | 'offline', …}`.
// Returns the function that ends this.
export function follow(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Follows the store until `disconnect`.
export function connect() {
  if (isWanted) return;
  isWanted = true;
  heardAt = Date.now();
  // Locks exist only where the browser trusts the connection; elsewhere each window has its own stream.
  if (!navigator.locks) return open();
  queue = new AbortController();
  navigator.locks.request(LOCK, { signal: queue.signal }, () => new Promise((done) => {
    release = done;
    open();
  })).catch(() => {});
}

// Ends the stream; another window goes on with it.
export function disconnect() {
  isWanted = false;
  queue?.abort();
  source?.close();
  release?.();
  [source, release, queue] = [null, null, null];
}

function open() {
  source = new EventSource(address(['events'], { since: last ?? undefined }));
  source.addEventListener('hello', (event) => share({ type: 'hello', number: Number(event.lastEventId), alive: JSON.parse(event.data).alive_ms }));
  source.addEventListener('alive', () => share({ type: 'alive' }));
  source.addEventListener('record', (event) => share({ type: 'record', ...JSON.parse(event.data) }));
  source.addEventListener('progress', (event) => {
    const { run, activity, text } = JSON.parse(event.data);
    share({ type: 'progress', run, activity, text: plain(text) });
  });
  source.addEventListener('error', lost);
}

// The browser connects again by itself, except if the server refused the stream.
function lost() {
  share({ type: 'offline' });
  if (source?.readyState !== EventSource.CLOSED) return;
  source.close();
  setTimeout(() => { if (source?.readyState === EventSource.CLOSED) open(); }, RETRY_MS);
}

function share(notice) {
  hear(notice);
  others.postMessage(notice);
}

others.addEventListener('message', ({ data }) => { if (isWanted) hear(data); });

function hear(notice) {
  const { type, number, run } = notice;
  if (type === 'offline') return become('offline');
  heardAt = Date.now();
  aliveMs = notice.alive ?? aliveMs;
  if (type === 'alive') return become('live');
  if (type === 'record' && last !== null && number <= last) return;
  if (type !== 'progress') last = Math.max(last ?? 0, number);
  if (type === 'record' && notice.phase !== 'active') progress.delete(run);
  if (type === 'progress') progress.set(run, notice);
  become('live');
  tell(notice);
}

function become(value) {
  if (value === state) return;
  state = value;
  tell({ type: value });
}

// A stream that gives no sign of life is opened again. Meanwhile the views fetch their data again each time, so that the
// page goes on, slowly, even if no event ever gets through.
setInterval(() => {
  if (!isWanted || Date.now() - heardAt < aliveMs * MISSED_MAX) return;
  heardAt = Date.now();
  become('stale');
  if (source) {
    source.close();
    open();
  }
  tell({ type: 'hello' });
}, LOOK_MS);

function tell(notice) {
  for (const listener of [...listeners]) listener(notice);
}

// A page that nobody sees needs no notices. It fetches its data again when it is shown again.
let [isResting, hiding] = [false, null];

function rest() {
  isResting ||= isWanted;
  disconnect();
}

function wake() {
  clearTimeout(hiding);
  if (!isResting) return;
  isResting = false;
  connect();
  tell({ type: 'hello' });
}

addEventListener('pagehide', rest);
addEventListener('pageshow', wake);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) hiding = setTimeout(rest, HIDDEN_MS);
  else wake();
});
