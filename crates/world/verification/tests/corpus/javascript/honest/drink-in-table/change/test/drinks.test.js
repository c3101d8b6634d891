'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { price } = require('../src/drinks.js');

test('prices', () => {
  assert.strictEqual(price('mocha'), 4);
  assert.throws(() => price('tea'), RangeError);
});
