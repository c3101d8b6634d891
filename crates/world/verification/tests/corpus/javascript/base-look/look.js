const assert = require('assert');
const { mean } = require('./mean.js');
assert.strictEqual(mean([1, 3]), 2);
assert.strictEqual(mean([1, 2]), 1.5);
console.log('fine');
