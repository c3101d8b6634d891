'use strict';

/** Writes the words of a slug with capitals. */
exports.title = (text) =>
  text
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
