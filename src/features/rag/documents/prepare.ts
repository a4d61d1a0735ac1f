import { createHash } from 'node:crypto'
import { breather } from '../../../lib/breather.ts'
import type { Embedder } from '../embedding/embedder.ts'
import { chunksOf, plainText } from '../text/chunks.ts'
import { languageOf } from '../text/language.ts'
import { signatureOf, toBytes } from '../text/quantized.ts'

/** A document before it is split into chunks. */
export interface Draft {
  subject: string | null
  /** Sender and recipients, as far as they may be searched. */
  people: string
  body: string
}

export interface Chunk {
  ordinal: number
  text: string
  vector: string
  bits: string
}

interface Prepared {
  language: string
  content_hash: string
  chunks: Chunk[]
}

/** A document after it was split. */
interface Part extends Omit<Prepared, 'chunks'> {
  subject: string
  people: string
  texts: string[]
}

interface Sizes {
  chunk_size: number
  chunk_overlap: number
}

/** Splits documents into chunks and embeds all chunks with one call. */
export async function prepare(
  embedder: Pick<Embedder, 'embed'>,
  { chunk_size: size, chunk_overlap: overlap }: Sizes,
  drafts: readonly Draft[],
): Promise<Prepared[]> {
  const breathe = breather()
  const parts: Part[] = []
  for (const draft of drafts) {
    const body = plainText(draft.body)
    const subject = plainText(draft.subject ?? '')
    // A message without text can still be found by its subject and its people.
    const texts = chunksOf(body, size, overlap)
    parts.push({
      language: languageOf(`${subject} ${body}`),
      content_hash: createHash('sha256').update(`${subject}\n${body}`).digest('hex'),
      subject,
      people: draft.people,
      texts: texts.length > 0 ? texts : [''],
    })
    await breathe()
  }
  const inputs = parts.flatMap(({ subject, people, texts }) =>
    texts.map((text) => `${subject} ${people} ${text}`.trim() || '-'),
  )
  const vectors = await embedder.embed(inputs)
  let next = 0
  const prepared: Prepared[] = []
  for (const { language, content_hash, texts } of parts) {
    const chunks = texts.map((text, ordinal) => {
      const vector = vectors[next++] as Float32Array
      return {
        ordinal,
        text,
        vector: `\\x${toBytes(vector).toString('hex')}`,
        bits: `x${signatureOf(vector)}`,
      }
    })
    prepared.push({ language, content_hash, chunks })
    await breathe()
  }
  return prepared
}
