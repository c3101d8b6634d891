'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { slug, cut } = require('../src/slug.js');

test('joins words', () => {
  assert.strictEqual(slug('Hello  World'), 'hello-world');
});

test('leaves punctuation out', () => {
  assert.strictEqual(slug('  What? Yes! '), 'what-yes');
});

test('cuts at a word', () => {
  assert.strictEqual(cut('one-two-three', 9), 'one-two');
  assert.strictEqual(cut('one', 9), 'one');
});
