export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Comparing needs a cell for each pair of lines that are not at the same beginning or end. */
const MAX_CELLS = 4_000_000

/** The lines of two texts, with those that only one of them has marked. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start++
  let end = 0
  while (
    end < old.length - start &&
    end < young.length - start &&
    old[old.length - 1 - end] === young[young.length - 1 - end]
  ) {
    end++
  }
  const same = (lines: string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }))
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...same(old.slice(old.length - end)),
  ]
}

function middle(old: string[], young: string[]): DiffLine[] {
  const width = young.length + 1
  if ((old.length + 1) * width > MAX_CELLS) return replaced(old, young)
  // lengths[a * width + b]: the most lines in common from old[a] and young[b] on.
  const lengths = new Uint32Array((old.length + 1) * width)
  const at = (a: number, b: number) => lengths[a * width + b] as number
  for (let a = old.length - 1; a >= 0; a--) {
    for (let b = young.length - 1; b >= 0; b--) {
      lengths[a * width + b] =
        old[a] === young[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1))
    }
  }
  const lines: DiffLine[] = []
  let [a, b] = [0, 0]
  while (a < old.length && b < young.length) {
    if (old[a] === young[b]) {
      lines.push({ kind: 'same', text: old[a++] as string })
      b++
    } else if (at(a + 1, b) >= at(a, b + 1)) {
      lines.push({ kind: 'removed', text: old[a++] as string })
    } else lines.push({ kind: 'added', text: young[b++] as string })
  }
  return [...lines, ...replaced(old.slice(a), young.slice(b))]
}

const replaced = (old: string[], young: string[]): DiffLine[] => [
  ...old.map((text): DiffLine => ({ kind: 'removed', text })),
  ...young.map((text): DiffLine => ({ kind: 'added', text })),
]
