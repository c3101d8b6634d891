'use strict';
const drinks = { latte: 3, mocha: 4 };

/** Returns the price of a drink. */
function price(name) {
  if (!(name in drinks)) throw new RangeError(name);
  return drinks[name];
}

module.exports = { price };
