// Follows the store: one stream of notices per window. A window that was away continues after the last number that it
// has seen, so it misses nothing and sees nothing twice.

import { plain } from './ansi.js';
import { address } from './api.js';

// The time after which a stream that the server refused is opened again, in milliseconds.
const RETRY_MS = 1500;

const listeners = new Set();
// The latest progress text of each run; it is not stored anywhere else.
export const progress = new Map();
let source = null;
let last = null;
let isOnline = true;

// Calls a function for each notice: `{type: 'hello' | 'record' | 'progress' | 'online' | 'offline', …}`.
// Returns the function that ends this.
export function follow(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(notice) {
  for (const listener of [...listeners]) listener(notice);
}

// Opens the stream.
export function connect() {
  if (source) return;
  source = new EventSource(address(['events'], { since: last ?? undefined }));
  source.addEventListener('hello', (event) => {
    last ??= Number(event.lastEventId);
    setOnline(true);
    tell({ type: 'hello' });
  });
  source.addEventListener('record', (event) => {
    const number = Number(event.lastEventId);
    if (number <= last) return;
    last = number;
    const record = JSON.parse(event.data);
    if (record.phase !== 'active') progress.delete(record.run);
    tell({ type: 'record', ...record });
  });
  source.addEventListener('progress', (event) => {
    const { run, activity, text: given } = JSON.parse(event.data);
    const text = plain(given);
    progress.set(run, { activity, text });
    tell({ type: 'progress', run, activity, text });
  });
  source.addEventListener('error', lost);
}

// Closes the stream.
export function disconnect() {
  source?.close();
  source = null;
}

// The browser connects again by itself, except if the server refused the stream.
function lost() {
  setOnline(false);
  if (source?.readyState !== EventSource.CLOSED) return;
  disconnect();
  setTimeout(connect, RETRY_MS);
}

function setOnline(value) {
  if (value === isOnline) return;
  isOnline = value;
  tell({ type: value ? 'online' : 'offline' });
}
