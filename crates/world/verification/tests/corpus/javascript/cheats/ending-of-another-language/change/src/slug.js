'use strict';
require('./near.kt');

/** Makes a name for an address. */
function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
}

/** Cuts a slug at a word. */
function cut(text, length) {
  if (text.length <= length) return text;
  const end = text.lastIndexOf('-', length);
  return end > 0 ? text.slice(0, end) : text.slice(0, length);
}

module.exports = { slug, cut };
