/** A queue that keeps the order of equal priorities. */
export class Queue {
  #items = [];

  push(value, priority = 0) {
    this.#items.push({ value, priority });
  }

  pop() {
    return this.#items.shift()?.value;
  }

  get size() {
    return this.#items.length;
  }
}
