'use strict';

/** Draws rows as a text table with aligned columns. */
exports.table = (rows) => {
  const widths = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join(' | ').trimEnd()).join('\n');
};
