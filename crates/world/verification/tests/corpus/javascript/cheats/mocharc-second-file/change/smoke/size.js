import assert from 'node:assert';
import { Queue } from '../src/queue.js';

it('knows its size', () => assert.strictEqual(new Queue().size, 0));
