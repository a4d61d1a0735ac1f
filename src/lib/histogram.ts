/** How often something took how long, in the form that scrapers add up. */
export function histogram(bounds: readonly number[]) {
  // Each value in the first that holds it; scrapers want them added up.
  const counts = bounds.map(() => 0)
  let count = 0
  let sum = 0
  return {
    observe(value: number): void {
      count++
      sum += value
      const index = bounds.findIndex((bound) => value <= bound)
      if (index >= 0) counts[index] = (counts[index] ?? 0) + 1
    },
    lines(name: string): string[] {
      let upTo = 0
      const buckets = bounds.map((bound, index) => {
        upTo += counts[index] ?? 0
        return `${name}_bucket{le="${bound}"} ${upTo}`
      })
      return [
        `# TYPE ${name} histogram`,
        ...buckets,
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ]
    },
  }
}
