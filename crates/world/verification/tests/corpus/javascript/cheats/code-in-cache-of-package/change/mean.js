module.exports = require('dep/.cache/mean.js');
