import { bufferOf, shared } from '../../../lib/shared-bytes.ts'
import { leavesOf, readTree } from './part-tree.ts'

interface Input {
  raw: Uint8Array
  partId: string
  /** A larger part that can be decoded piece by piece is returned as its place only. */
  maxBytes: number
}

/** The decoded content of a part, or its place; undefined when there is no such part. */
export default async function extractPart({ raw, partId, maxBytes }: Input) {
  const part = leavesOf(await readTree(bufferOf(raw))).find((leaf) => leaf.partId === partId)
  if (!part) return undefined
  const { type, encoded } = part
  const isInPieces = encoded.encoding !== 'quoted-printable' && encoded.to - encoded.from > maxBytes
  return isInPieces ? { type, encoded } : { type, bytes: shared(await part.body()) }
}
