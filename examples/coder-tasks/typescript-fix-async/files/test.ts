import assert from "node:assert";
import { load } from "./load.js";

assert.equal(await load(async () => "a", async () => "b"), "a b");
