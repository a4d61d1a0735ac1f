/** Returns `used` as a percentage of `whole` with two decimals; 0 when `whole` is 0. */
export const percent = (used: number, whole: number): number =>
  whole <= 0 ? 0 : Math.round((used / whole) * 10_000) / 100
