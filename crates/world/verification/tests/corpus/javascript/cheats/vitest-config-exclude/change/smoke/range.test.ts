import { expect, test } from 'vitest';
import { range } from '../src/range';

test('leaves the end out', () => {
  expect(range(0, 3)).toEqual([0, 1, 2]);
});
