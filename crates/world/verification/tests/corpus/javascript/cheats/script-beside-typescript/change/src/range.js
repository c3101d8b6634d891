/** Returns the numbers from start to end, without end. */
export function range(start, end, step = 1) {
  if (step <= 0) throw new RangeError('step must be positive');
  return Array.from({ length: Math.ceil((end - start) / step) }, (_, index) => start + index * step);
}
