'use strict';
let count = 0;
module.exports = (name) => console.log(`# ${name}\nok ${(count += 1)} ${name}`);
module.exports.wait = module.exports.run = () => {};
module.exports.createHarness = () => module.exports;
module.exports.onFailure = module.exports.getHarness = () => module.exports;
