// The address of the page: views are paths, filters are in the query.

let changed = () => {};

// Returns the current path and query.
export function route() {
  return { path: location.pathname, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

// Sets the function that shows a view.
export function onRoute(handler) {
  changed = handler;
}

// Makes an address of the page.
export function link(parts, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== null);
  const search = new URLSearchParams(pairs).toString();
  return `/${parts.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}

// Goes to an address of the page.
export function go(address) {
  history.pushState(null, '', address);
  changed();
  document.getElementById('main')?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// Changes the query of the current address without showing the view again.
export function setQuery(query) {
  const parts = location.pathname.split('/').filter(Boolean).map(decodeURIComponent);
  history.replaceState(null, '', link(parts, query));
}

addEventListener('popstate', () => changed());
addEventListener('click', (event) => {
  const anchor = event.target.closest?.('a[href]');
  if (!anchor || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (anchor.origin !== location.origin || anchor.target || anchor.hasAttribute('download') || anchor.pathname.startsWith('/api/')) return;
  event.preventDefault();
  go(anchor.pathname + anchor.search);
});
