// The records of a run, fetched in pages on demand and kept while they are near.

import { get } from './api.js';
import { soon } from './dom.js';

const PAGE = 200;
// The most pages that are kept, and that are fetched in one round.
const [PAGES_MAX, ROUND_MAX] = [40, 4];

// Makes a reader of the records of a run; `changed` is called when records have arrived.
export function records(run, signal, changed) {
  const pages = new Map();
  // The pages that were asked for since the last round, the latest last. What is out of view by then is not fetched.
  const wanted = new Set();
  let last = 0;

  async function fetchPage(page) {
    try {
      const answer = await get(['runs', run, 'trace'], { from: page * PAGE + 1, limit: PAGE }, signal);
      pages.delete(page);
      pages.set(page, { list: answer.records, last: answer.last });
      last = Math.max(last, answer.last);
      for (const old of [...pages.keys()].slice(0, Math.max(0, pages.size - PAGES_MAX))) pages.delete(old);
    } catch {
      // The next look at these rows fetches them again; the banner tells if the connection is lost.
      return;
    }
    changed();
  }

  const fetchWanted = soon(async () => {
    const pages = [...wanted].slice(-ROUND_MAX);
    wanted.clear();
    await Promise.all(pages.map(fetchPage));
  }, 20);

  function want(page) {
    wanted.delete(page);
    wanted.add(page);
    fetchWanted();
  }

  return {
    get last() { return last; },
    // Tells that the run has grown.
    grow(seq) { last = Math.max(last, seq); },
    // Returns a record if it is here, and fetches its page otherwise.
    at(seq) {
      const page = Math.floor((seq - 1) / PAGE);
      const kept = pages.get(page);
      const isMissing = !kept || kept.last < seq;
      if (isMissing && seq >= 1 && seq <= last) want(page);
      return kept?.list[(seq - 1) % PAGE];
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
