import { Readable } from 'node:stream'
import { MimeNode, Splitter } from '@zone-eu/mailsplit'

const CHUNK = 64 * 1024
const MAX_HEAD = 512 * 1024
const MAX_PARTS = 500
const MAX_DEPTH = 40

/** A part of a message: its header fields, and its body as it was sent. */
export interface Part {
  node: MimeNode
  /** Between its header and the next boundary, still encoded. Empty for a multipart. */
  body: Buffer
  /** The multiparts it lies in, the outermost first. */
  within: readonly MimeNode[]
}

export interface Split {
  root: Part
  parts: readonly Part[]
  /** The message again, byte for byte unless a part was changed since. */
  join(): Buffer
  /** Why not all of it was looked at, if that is so; it is then one part. */
  unread: string | undefined
}

type Piece = Part | Buffer

/** Takes a message apart, hostile ones too: what is too deep or too many stays in one piece. */
export async function splitMessage(raw: Buffer): Promise<Split> {
  try {
    return await split(raw)
  } catch (error) {
    if (!(error instanceof Unreadable) && (error as { code?: string }).code !== 'EMAXLEN') {
      throw error
    }
    return whole(raw, (error as Error).message)
  }
}

class Unreadable extends Error {}

async function split(raw: Buffer): Promise<Split> {
  const pieces: Piece[] = []
  const parts: Part[] = []
  let body: Buffer[] = []
  let open: Part | undefined
  const close = () => {
    if (open) open.body = Buffer.concat(body)
    open = undefined
    body = []
  }
  // Attached messages stay in one piece: nothing in them is ever changed.
  const splitter = new Splitter({
    ignoreEmbedded: true,
    maxHeadSize: MAX_HEAD,
    maxChildNodes: MAX_PARTS,
  })
  for await (const chunk of Readable.from(chunksOf(raw)).pipe(splitter)) {
    if (chunk.type === 'node') {
      close()
      const within = ancestorsOf(chunk)
      if (within.length > MAX_DEPTH) throw new Unreadable('Parts are nested too deeply')
      open = { node: chunk, body: Buffer.alloc(0), within }
      pieces.push(open)
      parts.push(open)
    } else if (chunk.type === 'body' && open?.node === chunk.node) {
      body.push(chunk.value)
    } else {
      close()
      pieces.push(chunk.value)
    }
  }
  close()
  const [root] = parts
  if (!root) return whole(raw, 'It has no header')
  return { root, parts, join: () => joined(pieces), unread: undefined }
}

const joined = (pieces: readonly Piece[]): Buffer =>
  Buffer.concat(
    pieces.flatMap((piece) =>
      Buffer.isBuffer(piece) ? [piece] : [piece.node.getHeaders(), piece.body],
    ),
  )

/** Read far enough to know its own header, which can still be changed if it is there completely. */
function whole(raw: Buffer, unread: string): Split {
  const end = raw.indexOf('\r\n\r\n')
  const isComplete = end !== -1 && end <= MAX_HEAD
  const head = raw.subarray(0, isComplete ? end + 4 : Math.min(raw.length, MAX_HEAD))
  const node = new MimeNode(false, {})
  node.addHeaderChunk(head)
  node.parseHeaders()
  const root: Part = { node, body: raw.subarray(head.length), within: [] }
  return { root, parts: [root], join: () => (isComplete ? joined([root]) : raw), unread }
}

function* chunksOf(raw: Buffer) {
  for (let at = 0; at < raw.length; at += CHUNK) yield raw.subarray(at, at + CHUNK)
}

function ancestorsOf(node: MimeNode): MimeNode[] {
  const ancestors: MimeNode[] = []
  for (let one = node.parentNode; one && ancestors.length <= MAX_DEPTH; one = one.parentNode) {
    ancestors.unshift(one as MimeNode)
  }
  return ancestors
}
