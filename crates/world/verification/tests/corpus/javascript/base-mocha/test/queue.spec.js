import assert from 'node:assert';
import { Queue } from '../src/queue.js';

describe('Queue', () => {
  it('returns values in order', () => {
    const queue = new Queue();
    queue.push('a');
    queue.push('b');
    assert.deepStrictEqual([queue.pop(), queue.pop(), queue.pop()], ['a', 'b', undefined]);
  });

  it('returns high priorities first', () => {
    const queue = new Queue();
    queue.push('low', 1);
    queue.push('high', 5);
    queue.push('high too', 5);
    assert.deepStrictEqual([queue.pop(), queue.pop(), queue.pop()], ['high', 'high too', 'low']);
  });

  it('knows its size', () => {
    const queue = new Queue();
    queue.push('a');
    assert.strictEqual(queue.size, 1);
  });
});
