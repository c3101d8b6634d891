'use strict';

/** Draws rows as a text table with aligned columns. */
exports.table = (rows) => {
  const widths = rows[0].map((_, column) => rows[0][column].length);
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join(' | ').trimEnd()).join('\n');
};
