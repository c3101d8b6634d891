import assert from "node:assert";
import { list } from "./list.js";

assert.deepEqual(list(["a", "b", "c"], { limit: 2 }), ["a", "b"]);
assert.deepEqual(list(["a", "b", "c"], { limit: 2, reverse: true }), ["c", "b"]);
assert.deepEqual(list(["a"], {}), ["a"]);
