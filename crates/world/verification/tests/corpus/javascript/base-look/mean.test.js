const test = require('node:test');
const assert = require('node:assert');
const { mean } = require('./mean.js');

test('whole', () => assert.strictEqual(mean([1, 3]), 2));
test('half', () => assert.strictEqual(mean([1, 2]), 1.5));
