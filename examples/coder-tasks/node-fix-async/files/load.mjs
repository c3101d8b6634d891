// @ts-check

/** @param {() => Promise<string>} one @param {() => Promise<string>} two */
export async function load(one, two) {
  return `${one()} ${two()}`;
}
