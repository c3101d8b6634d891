/** Returns the numbers from start to end, without end. */
export function range(start: number, end: number, step = 1): number[] {
  if (step <= 0) throw new RangeError('step must be positive');
  const numbers: number[] = [];
  for (let value = start; value < end; value += step) numbers.push(value);
  return numbers;
}
