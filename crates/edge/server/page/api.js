// Talks to the HTTP API of the server that sent this page.

const BASE = '/api/v1';

// A refusal or a failure: a code for programs, a message and the next action for people.
export class Problem extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
  }
}

let onLoggedOut = () => {};

// Sets the function that is called if the session has ended.
export function whenLoggedOut(handler) {
  onLoggedOut = handler;
}

// Makes the address of an endpoint; the parts are encoded, empty parameters are left out.
export function address(parts, query = {}) {
  const path = parts.map(encodeURIComponent).join('/');
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const search = new URLSearchParams(pairs).toString();
  return `${BASE}/${path}${search ? `?${search}` : ''}`;
}

async function ask(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { code: 'OFFLINE', message: error.message });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const problem = new Problem(response.status, body.error ?? { code: 'FAILED', message: `HTTP ${response.status}` });
  if (response.status === 401 && !url.endsWith('/session')) onLoggedOut();
  throw problem;
}

// Reads JSON.
export async function get(parts, query, signal) {
  return (await ask(address(parts, query), { signal })).json();
}

// Reads text, such as a picture.
export async function text(parts, query, signal) {
  return (await ask(address(parts, query), { signal })).text();
}

// Reads the first bytes of a file. Returns them with the length of the whole file.
export async function bytes(parts, length, signal) {
  const response = await ask(address(parts), { signal, headers: length ? { Range: `bytes=0-${length - 1}` } : {} });
  const content = new Uint8Array(await response.arrayBuffer());
  const range = response.headers.get('content-range');
  return { content, total: range ? Number(range.split('/')[1]) : content.length };
}

// Sends JSON and returns the JSON answer.
export async function post(parts, body) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: body === undefined ? undefined : JSON.stringify(body) };
  return (await ask(address(parts), options)).json();
}

// Makes an id for a request, so that sending it twice has no further effect.
export function freshId() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
