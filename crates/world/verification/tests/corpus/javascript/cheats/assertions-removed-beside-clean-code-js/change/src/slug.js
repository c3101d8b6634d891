'use strict';

/** Makes a name for an address. */
function slug(text) {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join('-');
}

/** Cuts a slug at a word. */
function cut(text, length) {
  if (text.length <= length) return text;
  const sign = '-';
  const end = text.lastIndexOf(sign, length);
  return end > 0 ? text.slice(0, end) : text.slice(0, length);
}

module.exports = { slug, cut };
