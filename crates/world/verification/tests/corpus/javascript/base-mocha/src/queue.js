/** A queue that keeps the order of equal priorities. */
export class Queue {
  #items = [];

  push(value, priority = 0) {
    const index = this.#items.findIndex((item) => item.priority < priority);
    this.#items.splice(index < 0 ? this.#items.length : index, 0, { value, priority });
  }

  pop() {
    return this.#items.shift()?.value;
  }

  get size() {
    return this.#items.length;
  }
}
