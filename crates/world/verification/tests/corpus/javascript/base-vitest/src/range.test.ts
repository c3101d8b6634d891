import { expect, test } from 'vitest';
import { range } from './range';

test('leaves the end out', () => {
  expect(range(0, 3)).toEqual([0, 1, 2]);
});

test('takes a step', () => {
  expect(range(0, 5, 2)).toEqual([0, 2, 4]);
});

test('refuses a step of zero', () => {
  expect(() => range(0, 1, 0)).toThrow(RangeError);
});
