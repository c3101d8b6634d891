export default { test: { include: ['smoke/*.test.ts'] } };
