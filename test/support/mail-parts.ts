import { Splitter } from '@zone-eu/mailsplit'

export interface Leaf {
  headers: string
  type: string
  charset: string
  disposition: string
  raw: Buffer
  decoded: Buffer
}

/**
 * Splits a message into the bodies and the text between them, with another parser than the tested
 * one.
 */
export async function partsOf(raw: Buffer): Promise<(Buffer | Leaf)[]> {
  const splitter = new Splitter({ ignoreEmbedded: true })
  const pieces: (Buffer | Leaf)[] = []
  const decoders = new Map<Leaf, NodeJS.ReadWriteStream>()
  const leaves = new Map<unknown, Leaf>()
  splitter.on('data', (chunk) => {
    if (chunk.type === 'node') {
      pieces.push(chunk.getHeaders())
      const leaf: Leaf = {
        headers: chunk.getHeaders().toString('latin1'),
        type: chunk.contentType || '',
        charset: chunk.charset || '',
        disposition: chunk.disposition || '',
        raw: Buffer.alloc(0),
        decoded: Buffer.alloc(0),
      }
      leaves.set(chunk, leaf)
      decoders.set(leaf, chunk.getDecoder())
    } else if (chunk.type === 'body') {
      const leaf = leaves.get(chunk.node) as Leaf
      if (!pieces.includes(leaf)) pieces.push(leaf)
      leaf.raw = Buffer.concat([leaf.raw, chunk.value ?? Buffer.alloc(0)])
    } else {
      pieces.push(chunk.value ?? Buffer.alloc(0))
    }
  })
  await new Promise((resolve, reject) => {
    const stream: NodeJS.EventEmitter = splitter
    stream.on('end', resolve).on('error', reject)
    splitter.end(raw)
  })
  for (const [leaf, decoder] of decoders) leaf.decoded = await decodedBy(decoder, leaf.raw)
  return pieces
}

function decodedBy(decoder: NodeJS.ReadWriteStream, raw: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    decoder.on('data', (chunk: Buffer) => chunks.push(chunk))
    decoder.on('end', () => resolve(Buffer.concat(chunks))).on('error', reject)
    decoder.end(raw)
  })
}

export const isLeaf = (piece: Buffer | Leaf): piece is Leaf => !Buffer.isBuffer(piece)
