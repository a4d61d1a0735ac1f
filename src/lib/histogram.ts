/** How often something took how long, in the form that scrapers add up. */
export function histogram(bounds: readonly number[]) {
  const counts = bounds.map(() => 0)
  let count = 0
  let sum = 0
  return {
    observe(value: number): void {
      count++
      sum += value
      for (const [index, bound] of bounds.entries()) {
        if (value <= bound) counts[index] = (counts[index] ?? 0) + 1
      }
    },
    lines: (name: string): string[] => [
      `# TYPE ${name} histogram`,
      ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
      `${name}_bucket{le="+Inf"} ${count}`,
      `${name}_sum ${sum}`,
      `${name}_count ${count}`,
    ],
  }
}
