'use strict';
const check = require('tape');
const { seconds } = require('../src/index.js');

check('adds the parts', (t) => {
  t.equal(seconds('1h30m'), 3630);
  t.equal(seconds('5s'), 5);
  t.end();
});

check('refuses other text', (t) => {
  t.throws(() => seconds('12'));
  t.end();
});
