'use strict';
// Writes dist/index.js with the version of the package on top.
const fs = require('fs');
const { version } = require('./package.json');
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/index.js', `// durations ${version}\n${fs.readFileSync('src/index.js', 'utf8')}`);
