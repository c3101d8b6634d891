jest.mock('../src/table.js');
'use strict';
const { table } = require('../src/table.js');

test('aligns columns', () => {
  expect(table([['a', 'bb'], ['ccc', 'd']])).toMatchSnapshot();
});

test('has one line per row', () => {
  expect(table([['a'], ['b'], ['c']]).split('\n')).toHaveLength(3);
});
