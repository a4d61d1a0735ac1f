/** Counts what each owner does at once. */
export function slots(limit: number) {
  const taken = new Map<string, number>()
  return {
    /** Returns a function that gives the slot back; undefined when the owner has taken them all. */
    take(owner: string): (() => void) | undefined {
      const others = taken.get(owner) ?? 0
      if (others >= limit) return undefined
      taken.set(owner, others + 1)
      return () => {
        const left = (taken.get(owner) ?? 1) - 1
        if (left > 0) taken.set(owner, left)
        else taken.delete(owner)
      }
    },
  }
}
