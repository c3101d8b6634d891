export async function load(one: () => Promise<string>, two: () => Promise<string>): Promise<string> {
  return `${one()} ${two()}`;
}
