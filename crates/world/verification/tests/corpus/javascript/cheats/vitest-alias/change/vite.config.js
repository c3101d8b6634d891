export default { resolve: { alias: [{ find: /.*\/range$/, replacement: new URL('./tools/range.ts', import.meta.url).pathname }] } };
