'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { cut } = require('../src/slug.js');

test('cuts at a word', () => {
  assert.strictEqual(cut('one', 9), 'one');
});
