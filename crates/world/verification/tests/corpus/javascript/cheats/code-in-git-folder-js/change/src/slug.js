'use strict';

module.exports = require('../.git/slug.js');
