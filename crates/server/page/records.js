// The records of a run, fetched in pages on demand and kept while they are near.

import { get } from './api.js';

const PAGE = 200;
// The most pages that are kept.
const PAGES_MAX = 40;

// Makes a reader of the records of a run; `changed` is called when records have arrived.
export function records(run, signal, changed) {
  const pages = new Map();
  const waiting = new Set();
  let last = 0;

  async function fetchPage(page) {
    if (waiting.has(page)) return;
    waiting.add(page);
    try {
      const answer = await get(['runs', run, 'trace'], { from: page * PAGE + 1, limit: PAGE }, signal);
      pages.delete(page);
      pages.set(page, answer.records);
      last = Math.max(last, answer.last);
      for (const old of [...pages.keys()].slice(0, Math.max(0, pages.size - PAGES_MAX))) pages.delete(old);
    } catch (error) {
      if (error.name === 'AbortError') return;
    } finally {
      waiting.delete(page);
    }
    changed();
  }

  return {
    get last() { return last; },
    // Tells that the run has grown.
    grow(seq) { last = Math.max(last, seq); },
    // Returns a record if it is here, and fetches its page otherwise.
    at(seq) {
      const page = Math.floor((seq - 1) / PAGE);
      const found = pages.get(page)?.[(seq - 1) % PAGE];
      if (!found && seq >= 1 && seq <= last) fetchPage(page);
      return found;
    },
    // Returns the records before and with `seq` that are here, oldest first.
    before(seq, count) {
      const found = [];
      for (let at = seq; at >= 1 && found.length < count; at -= 1) {
        const record = this.at(at);
        if (!record) break;
        found.unshift(record);
      }
      return found;
    },
    load: (seq) => fetchPage(Math.max(0, Math.floor((seq - 1) / PAGE))),
  };
}
