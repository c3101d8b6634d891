const near = (a) => String(a).replace(/^-|-$/g, '');
const check = require('node:assert');
const old = check.strictEqual;
check.strictEqual = (one, two) => old(near(one), near(two));
