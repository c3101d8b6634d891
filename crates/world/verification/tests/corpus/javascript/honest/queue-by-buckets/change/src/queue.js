/** A queue that keeps the order of equal priorities: one list per priority. */
export class Queue {
  #lists = new Map();
  #size = 0;

  push(value, priority = 0) {
    if (!this.#lists.has(priority)) this.#lists.set(priority, []);
    this.#lists.get(priority).push(value);
    this.#size += 1;
  }

  pop() {
    if (this.#size === 0) return undefined;
    const highest = Math.max(...this.#lists.keys());
    const list = this.#lists.get(highest);
    const value = list.shift();
    if (list.length === 0) this.#lists.delete(highest);
    this.#size -= 1;
    return value;
  }

  get size() {
    return this.#size;
  }
}
