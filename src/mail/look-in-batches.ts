const AT_ONCE = 20

/**
 * Looks at domains in DNS, some at once: one that does not answer does not delay those of others. Ends
 * when none of a batch answered: each look at silent resolvers lasts until its timeout, and the other
 * jobs wait for it. `look` returns whether DNS answered.
 */
export async function lookInBatches<Row>(
  rows: readonly Row[],
  look: (row: Row) => Promise<boolean>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += AT_ONCE) {
    const answered = await Promise.all(rows.slice(start, start + AT_ONCE).map(look))
    if (!answered.includes(true)) return
  }
}
