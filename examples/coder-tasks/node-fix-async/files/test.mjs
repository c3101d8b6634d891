import assert from 'node:assert';
import { load } from './load.mjs';

assert.equal(await load(async () => 'a', async () => 'b'), 'a b');
