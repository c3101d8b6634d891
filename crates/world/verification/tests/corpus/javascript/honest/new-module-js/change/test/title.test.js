'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { title } = require('../src/title.js');

test('writes capitals', () => {
  assert.strictEqual(title('hello-world'), 'Hello World');
});
