/** Used of a whole, in percent with two decimals; 0 when there is no whole. */
export const percent = (used: number, whole: number): number =>
  whole <= 0 ? 0 : Math.round((used / whole) * 10_000) / 100
