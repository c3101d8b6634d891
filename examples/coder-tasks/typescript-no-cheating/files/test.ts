import assert from "node:assert";
import { price } from "./price.js";

assert.equal(price(150), "1.50");
assert.equal(price(199), "1.99");
