import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { Config } from '../../../config/index.ts'
import { breather } from '../../../lib/breather.ts'
import { exchange } from '../../../outbound/exchange.ts'
import type { OutboundGuard } from '../../../outbound/guard.ts'
import { escaped, signedHeaders, UNSIGNED_PAYLOAD } from '../../../outbound/sigv4.ts'
import { type Storage, StorageAway } from './object-storage.ts'

const TIMEOUT_MS = 60_000
const IDLE_MS = 3000
const CONNECTIONS = 16
// More than the largest message with the overhead of its seal.
const MAX_OBJECT_BYTES = 64 * 1024 * 1024
const SHOWN_CHARACTERS = 300
const STEP_BYTES = 1024 * 1024

/** S3-compatible object storage, called like every other target through the guard. */
export function s3Storage(config: Config, guard: OutboundGuard, now: () => Date): Storage {
  const base = baseUrl(config)
  const { S3_ACCESS_KEY: accessKey = '', S3_SECRET_KEY: secretKey = '' } = config
  const pool = {
    keepAlive: true,
    maxSockets: CONNECTIONS,
    timeout: IDLE_MS,
    lookup: guard.lookup,
  }
  const agent = base.protocol === 'https:' ? new HttpsAgent(pool) : new HttpAgent(pool)

  async function request(method: 'DELETE' | 'GET' | 'PUT', key: string, body?: Buffer) {
    const problem = guard.problemOf(base.href)
    if (problem !== undefined) throw new StorageAway(problem)
    const url = new URL(base)
    url.pathname += key.split('/').map(escaped).join('/')
    const payloadHash =
      base.protocol === 'https:' ? UNSIGNED_PAYLOAD : await sha256(body ?? Buffer.alloc(0))
    const region = config.S3_REGION
    const signing = { method, url, payloadHash, accessKey, secretKey, region, at: now() }
    const headers = {
      ...signedHeaders(signing),
      ...(body && { 'content-length': body.length }),
    }
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_OBJECT_BYTES }
    try {
      const target = { ...urlToHttpOptions(url), agent }
      return await exchange(target, { method, headers, ...(body && { body }), ...limits })
    } catch (error) {
      throw new StorageAway(`object storage unreachable: ${(error as Error).message}`)
    }
  }

  const refused = (method: string, { status, text }: { status: number; text: string }) =>
    new StorageAway(
      `object storage refused ${method}: ${status} ${text.slice(0, SHOWN_CHARACTERS)}`,
    )

  return {
    async put(key, bytes) {
      const reply = await request('PUT', key, bytes)
      if (reply.status !== 200) throw refused('PUT', reply)
    },
    async get(key) {
      const reply = await request('GET', key)
      // 404 also means a missing bucket, which says nothing about the object.
      if (reply.status === 404 && !reply.text.includes('NoSuchBucket')) return undefined
      if (reply.status !== 200 || reply.isCut) throw refused('GET', reply)
      return reply.bytes
    },
    async delete(key) {
      const reply = await request('DELETE', key)
      const isGone = reply.status === 404 && !reply.text.includes('NoSuchBucket')
      if (reply.status >= 300 && !isGone) throw refused('DELETE', reply)
    },
    locationOf: (key) => `s3://${config.S3_BUCKET}/${key}`,
    close: () => agent.destroy(),
  }
}

/** Ends with a slash; the key of an object follows. */
function baseUrl({ S3_BUCKET: bucket = '', S3_ENDPOINT, S3_PATH_STYLE, S3_REGION }: Config): URL {
  const url = new URL(S3_ENDPOINT ?? `https://s3.${S3_REGION}.amazonaws.com`)
  const folder = url.pathname.replace(/\/+$/, '')
  if (S3_ENDPOINT !== undefined && S3_PATH_STYLE) {
    url.pathname = `${folder}/${escaped(bucket)}/`
  } else {
    url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${folder}/`
  }
  return url
}

async function sha256(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  const breathe = breather()
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    hash.update(bytes.subarray(at, at + STEP_BYTES))
    await breathe()
  }
  return hash.digest('hex')
}
