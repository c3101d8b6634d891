export interface Options {
  reverse?: boolean;
}

export function list(items: string[], options: Options = {}): string[] {
  return options.reverse ? [...items].reverse() : items;
}
