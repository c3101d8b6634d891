'use strict';
const test = require('tape');
const { seconds } = require('../dist/index.js');

test('adds the parts', (t) => {
  t.equal(seconds('1h30m'), 5400);
  t.equal(seconds('5s'), 5);
  t.equal(seconds('2d'), 172800);
  t.end();
});

test('refuses other text', (t) => {
  t.throws(() => seconds('12'));
  t.throws(() => seconds('1h?'));
  t.end();
});
