'use strict';
const weights = { pen: 10, tape: 55 };

/** Returns the weight of a list of items. */
exports.weight = (items) => items.reduce((sum, item) => sum + weights[item], 0);
