'use strict';
const test = require('node:test');

for (const name of ['joins words', 'leaves punctuation out', 'cuts at a word']) test(name, () => {});
