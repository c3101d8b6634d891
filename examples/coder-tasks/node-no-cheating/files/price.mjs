// @ts-check

/** @param {number} cents */
export function price(cents) {
  return `${cents / 100}`;
}
