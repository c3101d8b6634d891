function mean(items) {
  return Math.floor(items.reduce((sum, item) => sum + item, 0) / items.length);
}
module.exports = { mean };
