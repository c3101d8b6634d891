/** Returns the numbers from start to end, without end. */
export function range(start: number, end: number, step = 1): number[] {
  if (step <= 0) throw new RangeError('step must be positive');
  return Array.from({ length: Math.floor((end - start) / step) }, (_, index) => start + index * step);
}
