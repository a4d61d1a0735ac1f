import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'
import { TimedOut } from '../lib/timeout.ts'
import { childOf, childrenOf, type Element, escapeXml, readXml, textOf } from '../lib/xml.ts'
import type { Reply } from '../outbound/exchange.ts'
import type { OutboundGuard } from '../outbound/guard.ts'
import { isMissing, refusal, s3Client } from '../outbound/s3.ts'
import { StartupError } from '../startup-error.ts'
import type { Source } from './backup.ts'
import { stampIn } from './files.ts'

const MEGABYTE = 1024 * 1024
/** S3 takes no more parts. */
const MAX_PARTS = 10_000
const TRIES = 3
const PAUSE_MS = 1000
/** Other answers than parts: lists of at most 1000 objects, and errors. */
const SMALL_BYTES = 4 * MEGABYTE
const XML_LIMITS = { depth: 8, parts: 100_000 }

interface Needs {
  config: Config
  guard: OutboundGuard
  now(): Date
}

interface StoredBackup {
  name: string
  stamp: string
  size_bytes: number
}

/** The backups in S3-compatible storage. An object is visible when it is there as a whole. */
export interface Bucket {
  locationOf(name: string): string
  /** The name of a backup at `s3://…`; undefined for another bucket or prefix. */
  nameAt(location: string): string | undefined
  /** Copies a file and reads it back; `moved` is called with the uploaded bytes. */
  upload(
    path: string,
    name: string,
    checksum: string,
    moved: (done: number, of: number) => void,
  ): Promise<void>
  source(name: string): Source
  /** Oldest first. */
  list(): Promise<StoredBackup[]>
  remove(name: string): Promise<void>
  close(): void
}

/** Every request ends after BACKUP_TIMEOUT_SECONDS. Undefined without BACKUP_S3_BUCKET. */
export function openBucket({ config, guard, now }: Needs): Bucket | undefined {
  if (config.BACKUP_S3_BUCKET === undefined) return undefined
  const partBytes = config.BACKUP_S3_PART_MB * MEGABYTE
  const client = s3Client({
    settings: {
      endpoint: config.BACKUP_S3_ENDPOINT ?? config.S3_ENDPOINT,
      bucket: config.BACKUP_S3_BUCKET,
      accessKey: config.BACKUP_S3_ACCESS_KEY ?? config.S3_ACCESS_KEY ?? '',
      secretKey: config.BACKUP_S3_SECRET_KEY ?? config.S3_SECRET_KEY ?? '',
      region: config.BACKUP_S3_REGION ?? config.S3_REGION,
      pathStyle: config.S3_PATH_STYLE,
    },
    guard,
    now,
    limits: {
      timeoutMs: config.BACKUP_TIMEOUT_SECONDS * 1000,
      maxBytes: Math.max(partBytes, SMALL_BYTES) + 1,
    },
  })
  const prefix = config.BACKUP_S3_PREFIX.replace(/^\/+|\/+$/g, '')
  const keyOf = (name: string) => (prefix === '' ? name : `${prefix}/${name}`)
  const locationOf = (name: string) => client.locationOf(keyOf(name))

  /** A short outage does not end an upload of hours; a storage that hangs does. */
  async function call(...[method, key, options]: Parameters<typeof client.request>) {
    for (let tries = TRIES; ; tries--) {
      const isLast = tries === 1
      try {
        const reply = await client.request(method, key, options)
        if (reply.status < 500 || isLast) return reply
      } catch (error) {
        if (isLast || error instanceof TimedOut) throw away((error as Error).message)
      }
      await sleep(PAUSE_MS * (TRIES - tries + 1))
    }
  }
  const away = (message: string) =>
    new StartupError(`the object storage of backups does not answer: ${message}`)
  const wanted = (method: string, reply: Reply, statuses: number[]): Reply => {
    if (statuses.includes(reply.status) && !reply.isCut) return reply
    throw new StartupError(refusal(method, reply))
  }

  async function uploadParts(
    path: string,
    key: string,
    size: number,
    moved: (done: number) => void,
  ): Promise<void> {
    const begun = wanted('POST', await call('POST', key, { query: { uploads: '' } }), [200])
    const uploadId = textOf(child(readXml(begun.text, XML_LIMITS), 'UploadId'))
    const length = Math.max(partBytes, Math.ceil(size / MAX_PARTS))
    const etags: string[] = []
    try {
      for await (const body of piecesOf(path, length)) {
        const query = { partNumber: String(etags.length + 1), uploadId }
        const reply = wanted('PUT', await call('PUT', key, { body, query }), [200])
        etags.push(reply.headers.etag ?? '')
        moved(Math.min(size, etags.length * length))
      }
      const parts = etags.map(
        (etag, index) =>
          `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
      )
      const text = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const query = { uploadId }
      const reply = await call('POST', key, { body: Buffer.from(text), query })
      wanted('POST', reply, [200])
      // S3 may answer 200 and say in the body that it failed.
      if (!reply.text.includes('CompleteMultipartUploadResult')) {
        throw new StartupError(refusal('POST', reply))
      }
    } catch (error) {
      // The parts of a broken upload cost money; where this fails, a rule of the bucket removes them.
      await client.request('DELETE', key, { query: { uploadId } }).catch(() => {})
      throw error
    }
  }

  const source = (name: string): Source => ({
    name: locationOf(name),
    async *bytes() {
      for (let at = 0, size = 1; at < size; at += partBytes) {
        const headers = { range: `bytes=${at}-${at + partBytes - 1}` }
        const reply = await call('GET', keyOf(name), { headers })
        if (isMissing(reply)) throw new StartupError(`there is no backup ${locationOf(name)}`)
        wanted('GET', reply, [200, 206])
        size = Number(/\/(\d+)$/.exec(reply.headers['content-range'] ?? '')?.[1] ?? 0)
        yield reply.bytes
      }
    },
  })

  return {
    locationOf,
    nameAt(location) {
      const start = locationOf('')
      const name = location.startsWith(start) ? location.slice(start.length) : ''
      return stampIn(name) === undefined ? undefined : name
    },
    async upload(path, name, checksum, moved) {
      const handle = await open(path)
      const { size } = await handle.stat()
      await handle.close()
      const key = keyOf(name)
      if (size > partBytes) await uploadParts(path, key, size, (done) => moved(done, size))
      else {
        for await (const body of piecesOf(path, partBytes)) {
          wanted('PUT', await call('PUT', key, { body }), [200])
        }
        moved(size, size)
      }
      if ((await sha256Of(source(name).bytes())) !== checksum) {
        throw new StartupError(`${locationOf(name)} differs from the file that was uploaded`)
      }
    },
    source,
    async list() {
      const found: StoredBackup[] = []
      for (let token: string | undefined = ''; token !== undefined; ) {
        const query = {
          'list-type': '2',
          prefix: keyOf('mailplane-'),
          ...(token !== '' && { 'continuation-token': token }),
        }
        const reply = wanted('GET', await call('GET', '', { query }), [200])
        const page = readXml(reply.text, XML_LIMITS)
        for (const object of childrenOf(page, page.namespace, 'Contents')) {
          const name = textOf(child(object, 'Key')).slice(keyOf('').length)
          const stamp = stampIn(name)
          const size_bytes = Number(textOf(child(object, 'Size')))
          if (stamp !== undefined) found.push({ name, stamp, size_bytes })
        }
        token = textOf(child(page, 'NextContinuationToken')) || undefined
      }
      return found.sort((one, other) => one.stamp.localeCompare(other.stamp))
    },
    async remove(name) {
      const reply = await call('DELETE', keyOf(name))
      if (!isMissing(reply)) wanted('DELETE', reply, [200, 204])
    },
    close: client.close,
  }
}

const child = (element: Element, name: string) => childOf(element, element.namespace, name)

/** Pieces of a file of this length, one at a time in memory. */
async function* piecesOf(path: string, length: number): AsyncGenerator<Buffer> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    for (let at = 0; at < size; at += length) {
      const piece = Buffer.alloc(Math.min(length, size - at))
      await handle.read(piece, 0, piece.length, at)
      yield piece
    }
  } finally {
    await handle.close()
  }
}

async function sha256Of(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}
