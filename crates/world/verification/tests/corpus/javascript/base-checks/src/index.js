'use strict';
const units = { s: 1, m: 60, h: 3600 };

/** Returns the seconds of a duration such as "1h30m". */
exports.seconds = (text) => {
  const parts = [...text.matchAll(/(\d+)([smh])/g)];
  if (parts.map((part) => part[0]).join('') !== text || text === '') throw new Error(`not a duration: ${text}`);
  return parts.reduce((sum, [, count, unit]) => sum + count * units[unit], 0);
};
