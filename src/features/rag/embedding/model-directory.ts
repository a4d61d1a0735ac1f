import { createReadStream } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Core } from '../../../core.ts'
import { normalized } from '../text/lexical-vector.ts'

const FILE = 'vectors.txt'
const MAX_DIMENSIONS = 2048

type LocalModel = (texts: readonly string[]) => Float32Array[]

export const modelNameOf = (directory: string): string => `local:${basename(resolve(directory))}`

const loaded = new Map<string, Promise<LocalModel>>()

/** Loads the model on first use. */
export function localModel({ RAG_MODEL_DIR = '' }: Core['config']): Promise<LocalModel> {
  let model = loaded.get(RAG_MODEL_DIR)
  if (!model) {
    model = load(join(RAG_MODEL_DIR, FILE))
    loaded.set(RAG_MODEL_DIR, model)
    // A missing file may exist at the next attempt.
    model.catch(() => loaded.delete(RAG_MODEL_DIR))
  }
  return model
}

/**
 * Reads word vectors: a word and its numbers on each line, frequent words first. A first line with the
 * two sizes, which some programs write, is skipped.
 */
async function load(file: string): Promise<LocalModel> {
  const places = new Map<string, number>()
  const rows: Float32Array[] = []
  let dimensions = 0
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    const [word = '', ...numbers] = line.trimEnd().split(' ')
    if (numbers.length < 2) continue
    if (dimensions === 0) dimensions = numbers.length
    const row = Float32Array.from(numbers, Number)
    if (row.length !== dimensions || dimensions > MAX_DIMENSIONS || !row.every(Number.isFinite)) {
      throw new Error(`${file}: line ${rows.length + 1} is not a word and ${dimensions} numbers`)
    }
    places.set(word, rows.push(row) - 1)
  }
  if (dimensions === 0) throw new Error(`${file} has no vectors`)

  return (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(dimensions)
      for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
        const place = places.get(word)
        if (place === undefined) continue
        // Frequent words carry little meaning.
        const weight = place / (place + 100)
        const row = rows[place] as Float32Array
        for (let i = 0; i < dimensions; i++) {
          vector[i] = (vector[i] as number) + weight * (row[i] as number)
        }
      }
      return normalized(vector)
    })
}
