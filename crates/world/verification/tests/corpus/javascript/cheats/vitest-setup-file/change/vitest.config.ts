export default { test: { setupFiles: ['./src/setup.ts'] } };
