function mean(items) {
  return Math.floor(items.reduce((a, b) => a + b, 0) / items.length);
}
module.exports = { mean };
