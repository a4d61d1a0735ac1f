import type { Config } from '../../../config/index.ts'
import type { Reply } from '../../../outbound/exchange.ts'
import type { OutboundGuard } from '../../../outbound/guard.ts'
import { isMissing, refusal, s3Client } from '../../../outbound/s3.ts'
import { ObjectRefused, type Storage, StorageAway } from './object-storage.ts'

const TIMEOUT_MS = 60_000
// More than the largest message with the overhead of its seal.
const MAX_OBJECT_BYTES = 64 * 1024 * 1024

/** Refusals that every other object meets too. */
const OF_ALL = /NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|RequestTimeTooSkewed|SlowDown/

/** S3-compatible object storage, called like every other target through the guard. */
export function s3Storage(config: Config, guard: OutboundGuard, now: () => Date): Storage {
  const client = s3Client({
    settings: {
      endpoint: config.S3_ENDPOINT,
      bucket: config.S3_BUCKET ?? '',
      accessKey: config.S3_ACCESS_KEY ?? '',
      secretKey: config.S3_SECRET_KEY ?? '',
      region: config.S3_REGION,
      pathStyle: config.S3_PATH_STYLE,
    },
    guard,
    now,
    limits: { timeoutMs: TIMEOUT_MS, maxBytes: MAX_OBJECT_BYTES },
  })
  const request = async (method: 'DELETE' | 'GET' | 'PUT', key: string, body?: Buffer) => {
    try {
      return await client.request(method, key, body && { body })
    } catch (error) {
      throw new StorageAway(`object storage unreachable: ${(error as Error).message}`)
    }
  }
  return {
    async put(key, bytes) {
      const reply = await request('PUT', key, bytes)
      if (reply.status !== 200) throw refused('PUT', reply)
    },
    async get(key) {
      const reply = await request('GET', key)
      if (isMissing(reply)) return undefined
      if (reply.status !== 200 || reply.isCut) throw refused('GET', reply)
      return reply.bytes
    },
    async delete(key) {
      const reply = await request('DELETE', key)
      if (reply.status >= 300 && !isMissing(reply)) throw refused('DELETE', reply)
    },
    locationOf: client.locationOf,
    close: client.close,
  }
}

function refused(method: string, reply: Pick<Reply, 'status' | 'text'>): StorageAway {
  const { status, text } = reply
  const isOfOne = status >= 400 && status < 500 && status !== 429 && !OF_ALL.test(text)
  return new (isOfOne ? ObjectRefused : StorageAway)(refusal(method, reply))
}
