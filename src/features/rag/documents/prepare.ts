import { createHash } from 'node:crypto'
import type { Embedder } from '../embedding/embedder.ts'
import { chunksOf, plainText } from '../text/chunks.ts'
import { languageOf } from '../text/language.ts'
import { signatureOf, toBytes } from '../text/quantized.ts'

/** What is known of a document before it is taken apart. */
export interface Draft {
  subject: string | null
  /** Who wrote and who was written to, as far as it may be searched. */
  people: string
  body: string
}

export interface Chunk {
  ordinal: number
  text: string
  vector: string
  bits: string
}

export interface Prepared {
  language: string
  content_hash: string
  chunks: Chunk[]
}

interface Sizes {
  chunk_size: number
  chunk_overlap: number
}

/** Takes documents apart, with one question to the model for all of them. */
export async function prepare(
  embedder: Pick<Embedder, 'embed'>,
  { chunk_size: size, chunk_overlap: overlap }: Sizes,
  drafts: readonly Draft[],
): Promise<Prepared[]> {
  const parts = drafts.map((draft) => {
    const body = plainText(draft.body)
    const subject = plainText(draft.subject ?? '')
    // A message without text is still found by what stands around it.
    const texts = chunksOf(body, size, overlap)
    return {
      language: languageOf(`${subject} ${body}`),
      content_hash: createHash('sha256').update(`${subject}\n${body}`).digest('hex'),
      subject,
      people: draft.people,
      texts: texts.length > 0 ? texts : [''],
    }
  })
  const inputs = parts.flatMap(({ subject, people, texts }) =>
    texts.map((text) => `${subject} ${people} ${text}`.trim() || '-'),
  )
  const vectors = await embedder.embed(inputs)
  let next = 0
  return parts.map(({ language, content_hash, texts }) => ({
    language,
    content_hash,
    chunks: texts.map((text, ordinal) => {
      const vector = vectors[next++] as Float32Array
      return {
        ordinal,
        text,
        vector: `\\x${toBytes(vector).toString('hex')}`,
        bits: `x${signatureOf(vector)}`,
      }
    }),
  }))
}
