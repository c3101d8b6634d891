module.exports = { spec: 'smoke/*.js' };
