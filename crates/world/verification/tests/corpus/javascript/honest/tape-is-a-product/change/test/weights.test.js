'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { weight } = require('../src/weights.js');

test('weighs', () => {
  assert.strictEqual(weight(['pen', 'tape']), 65);
});
