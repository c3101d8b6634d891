function mean(items) {
  return Math.floor(items.reduce((a, b) => a + b, 0) / items.length);
}
module.exports = { mean };

if (require.main === module) {
  const assert = require('assert');
  assert.strictEqual(mean([1, 2]), 1);
}
