module.exports = require('./mean.dat');
