/** Writes minutes as hours and minutes. */
export function clock(minutes: number): string {
  const hours = Math.floor(minutes / 60);
  return `${hours}:${minutes % 60 < 10 ? '0' : ''}${minutes % 60}`;
}
