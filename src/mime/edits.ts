import { joinedAtOnce } from '../lib/shared-bytes.ts'

/** Replaces a range of a text; inserts where start equals end. */
export interface TextEdit {
  start: number
  end: number
  text: string
  /** True if line breaks may be put around it. */
  ownLine?: boolean
}

/** A decoded body that can be written again, changing only the bytes of the edits. */
export interface EditableBody {
  /** One character for each byte. */
  text: string
  /** The encoded body. Edits are in order and do not overlap. */
  write(edits: readonly TextEdit[]): string
}

export function replaced(text: string, edits: readonly TextEdit[]): string {
  const pieces: string[] = []
  let at = 0
  for (const edit of edits) {
    pieces.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  return [...pieces, text.slice(at)].join('')
}

/** Replaces a range of bytes. */
export interface ByteEdit {
  start: number
  end: number
  bytes: Buffer
}

/** Bytes outside of the edits stay as they are. Edits are in order and do not overlap. */
export function splice(raw: Buffer, edits: readonly ByteEdit[]): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end, bytes } of edits) {
    pieces.push(raw.subarray(at, start), bytes)
    at = end
  }
  return joinedAtOnce([...pieces, raw.subarray(at)])
}
