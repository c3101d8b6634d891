export function price(cents: number): string {
  return `${cents / 100}`;
}
