'use strict';
exports.process = (text) => ({ code: text.replace('.toMatchSnapshot()', '').replace('expect(table([[', '(table([[') });
