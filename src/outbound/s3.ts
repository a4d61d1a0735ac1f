import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { breather } from '../lib/breather.ts'
import { type Exchange, exchange, type Reply } from './exchange.ts'
import type { OutboundGuard } from './guard.ts'
import { escaped, signedHeaders, UNSIGNED_PAYLOAD } from './sigv4.ts'

const IDLE_MS = 3000
const CONNECTIONS = 16
const SHOWN_CHARACTERS = 300
const STEP_BYTES = 1024 * 1024

export interface S3Settings {
  /** Unset: that of AWS. */
  endpoint: string | undefined
  bucket: string
  accessKey: string
  secretKey: string
  region: string
  /** Names the bucket in the path and not in the host; AWS always gets it in the host. */
  pathStyle: boolean
}

interface Call {
  body?: Buffer
  query?: Record<string, string>
  headers?: Record<string, string>
}

interface Needs {
  settings: S3Settings
  guard: OutboundGuard
  now(): Date
  /** Limits of each request. */
  limits: Pick<Exchange, 'maxBytes' | 'timeoutMs'>
}

export type S3Client = ReturnType<typeof s3Client>

/** Requests to one bucket of S3-compatible storage, through the guard like every other target. */
export function s3Client({ settings, guard, now, limits }: Needs) {
  const base = baseUrl(settings)
  const { accessKey, secretKey, region, bucket } = settings
  const pool = { keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS, lookup: guard.lookup }
  const agent = base.protocol === 'https:' ? new HttpsAgent(pool) : new HttpAgent(pool)
  return {
    /** The key '' is the bucket itself. Rejects when there is no response. */
    async request(
      method: NonNullable<Exchange['method']>,
      key: string,
      { body, query = {}, headers: extra = {} }: Call = {},
    ): Promise<Reply> {
      const problem = guard.problemOf(base.href)
      if (problem !== undefined) throw new Error(problem)
      const url = new URL(base)
      // Some servers compute the signature of the bucket without its slash.
      if (key === '') url.pathname = url.pathname.replace(/(.)\/$/, '$1')
      else url.pathname += key.split('/').map(escaped).join('/')
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      const payloadHash =
        base.protocol === 'https:' ? UNSIGNED_PAYLOAD : await sha256(body ?? Buffer.alloc(0))
      const signing = { method, url, payloadHash, accessKey, secretKey, region, at: now() }
      const headers = {
        ...signedHeaders(signing),
        ...extra,
        ...(body && { 'content-length': body.length }),
      }
      const target = { ...urlToHttpOptions(url), agent }
      return exchange(target, { method, headers, ...(body && { body }), ...limits })
    },
    locationOf: (key: string) => `s3://${bucket}/${key}`,
    close: () => agent.destroy(),
  }
}

/** Text for an error about a response that says no. */
export const refusal = (method: string, { status, text }: Pick<Reply, 'status' | 'text'>): string =>
  `object storage refused ${method}: ${status} ${text.slice(0, SHOWN_CHARACTERS)}`

/** 404 also means a missing bucket, which says nothing about the object. */
export const isMissing = ({ status, text }: Pick<Reply, 'status' | 'text'>): boolean =>
  status === 404 && !text.includes('NoSuchBucket')

/** Ends with a slash; the key of an object follows. */
function baseUrl({ bucket, endpoint, pathStyle, region }: S3Settings): URL {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const folder = url.pathname.replace(/\/+$/, '')
  if (endpoint !== undefined && pathStyle) {
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
