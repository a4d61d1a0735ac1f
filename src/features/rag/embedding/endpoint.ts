import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { specialRange } from '../../../lib/ip-ranges.ts'
import { ulid } from '../../../lib/ulid.ts'
import { AiTransaction } from '../rag.events.ts'
import { normalized } from '../text/lexical-vector.ts'
import type { EmbeddingNeeds } from './embedder.ts'

const TRIES = 3
const PAUSE_MS = 200
const MAX_DIMENSIONS = 8192
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** The embeddings endpoint failed or returned an invalid response. */
export class EmbeddingsUnavailable extends Error {}

interface Answer {
  data: { index: number; embedding: number[] }[]
  usage?: { total_tokens?: number }
}

/**
 * Requests embeddings from an endpoint with the API of OpenAI. The operator chose its URL, so the SSRF
 * guard for URLs of tenants does not apply.
 */
export async function requestEmbeddings(
  core: EmbeddingNeeds,
  organizationId: string,
  texts: readonly string[],
): Promise<Float32Array[]> {
  const size = core.config.RAG_EMBEDDINGS_BATCH
  const vectors: Float32Array[] = []
  for (let at = 0; at < texts.length; at += size) {
    vectors.push(...(await requestBatch(core, organizationId, texts.slice(at, at + size))))
  }
  return vectors
}

async function requestBatch(
  core: EmbeddingNeeds,
  organizationId: string,
  input: readonly string[],
) {
  const { config } = core
  const emit = (tokens: number, status: 'completed' | 'failed') =>
    core.db.transaction().execute((tx) =>
      core.events.emit(
        tx,
        AiTransaction,
        { org_id: organizationId },
        {
          operation: 'embedding',
          model: config.RAG_EMBEDDINGS_MODEL,
          tokens_used: tokens,
          estimated_cost_usd: (tokens * config.RAG_EMBEDDINGS_CENTS_PER_MILLION) / 100 / 1e6,
          status,
          transaction_id: ulid(),
        },
      ),
    )
  try {
    const answer = await post(core, input)
    const vectors = vectorsIn(answer, input.length)
    await emit(Math.max(0, Math.trunc(answer.usage?.total_tokens ?? 0)), 'completed')
    return vectors
  } catch (error) {
    if (!(error instanceof EmbeddingsUnavailable)) throw error
    core.log.warn({ err: error }, 'request to the embeddings endpoint failed')
    await emit(0, 'failed')
    throw error
  }
}

async function post({ config }: EmbeddingNeeds, input: readonly string[]): Promise<Answer> {
  const url = `${config.RAG_EMBEDDINGS_URL?.replace(/\/+$/, '')}/embeddings`
  let failure: unknown
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (attempt > 0) await sleep(PAUSE_MS * 2 ** attempt)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(config.RAG_EMBEDDINGS_KEY && {
            authorization: `Bearer ${config.RAG_EMBEDDINGS_KEY}`,
          }),
        },
        body: JSON.stringify({ model: config.RAG_EMBEDDINGS_MODEL, input }),
        redirect: 'error',
        signal: AbortSignal.timeout(config.RAG_EMBEDDINGS_TIMEOUT * 1000),
      })
      if (response.ok) {
        if (Number(response.headers.get('content-length') ?? 0) > MAX_ANSWER_BYTES) {
          throw new Error('the response is too large')
        }
        return (await response.json()) as Answer
      }
      await response.body?.cancel().catch(() => {})
      failure = new Error(`status ${response.status}`)
      // Retrying does not help against a wrong key or model.
      if (response.status < 500 && response.status !== 429) break
    } catch (error) {
      failure = error
    }
  }
  throw new EmbeddingsUnavailable('the request to the embeddings endpoint failed', {
    cause: failure,
  })
}

function vectorsIn(answer: Answer, count: number): Float32Array[] {
  const list = Array.isArray(answer?.data) ? answer.data : []
  const vectors = new Array<Float32Array | undefined>(count)
  for (const { index, embedding } of list) {
    const isNumbers = Array.isArray(embedding) && embedding.every(Number.isFinite)
    if (!isNumbers || embedding.length === 0 || embedding.length > MAX_DIMENSIONS) break
    if (index >= 0 && index < count) vectors[index] = normalized(Float32Array.from(embedding))
  }
  if (!Array.from(vectors).every((vector) => vector !== undefined)) {
    throw new EmbeddingsUnavailable('the embeddings endpoint returned an invalid response')
  }
  return vectors as Float32Array[]
}

/** Returns whether the endpoint is reachable. */
export async function endpointAnswers(url: string, key: string | undefined): Promise<boolean> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      redirect: 'error',
      signal: AbortSignal.timeout(2000),
    })
    await response.body?.cancel().catch(() => {})
    return response.status < 500
  } catch {
    return false
  }
}

/** Returns whether the endpoint is in a private network, so that texts stay inside it. */
export function isPrivateEndpoint(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host)) return specialRange(host) !== undefined
  return (
    host === 'localhost' || !host.includes('.') || /\.(internal|local|lan|home\.arpa)$/.test(host)
  )
}
