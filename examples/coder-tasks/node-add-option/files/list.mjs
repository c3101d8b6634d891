// @ts-check

/** @param {string[]} items @param {{ reverse?: boolean }} options */
export function list(items, options = {}) {
  return options.reverse ? [...items].reverse() : items;
}
