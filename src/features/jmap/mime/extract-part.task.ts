import { bufferOf, shared } from '../../../lib/shared-bytes.ts'
import { leavesOf, readTree } from './part-tree.ts'

interface Input {
  raw: Uint8Array
  partId: string
}

/** The decoded content of a part; undefined when there is no such part. */
export default async function extractPart({ raw, partId }: Input) {
  const part = leavesOf(await readTree(bufferOf(raw))).find((leaf) => leaf.partId === partId)
  return part && { type: part.type, bytes: shared(await part.body()) }
}
