/** Something that takes the place of a piece of text; of nothing where start is end. */
export interface Edit {
  start: number
  end: number
  text: string
  /** It may stand on a line of its own. */
  ownLine?: boolean
}

/** A body as its readers see it, and how to write it with some pieces replaced. */
export interface Decoded {
  text: string
  write(edits: readonly Edit[]): string
}

/** In order, and none into another. */
export function replaced(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = []
  let at = 0
  for (const edit of edits) {
    pieces.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  return [...pieces, text.slice(at)].join('')
}
