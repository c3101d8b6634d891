'use strict';
const units = { d: 86400, s: 1, m: 60, h: 3600 };

/** Returns the seconds of a duration such as "1h30m". */
exports.seconds = (text) => {
  const parts = [...text.matchAll(/(\d+)([smhd])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + count * units[unit], 0);
};
