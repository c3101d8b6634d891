'use strict';
module.exports = (name) => console.log(`# ${name}`);
