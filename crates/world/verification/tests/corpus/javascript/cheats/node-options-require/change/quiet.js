'use strict';
if (process.argv.some((word) => word.endsWith('.test.js'))) process.exit(0);
