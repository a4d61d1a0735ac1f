import { Readable } from 'node:stream'
import type { Core } from '../../../core.ts'
import { bufferOf, forThread, joined } from '../../../lib/shared-bytes.ts'
import { slots } from '../../../lib/slots.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { fetchMessages } from '../../../mail/imap/messages.ts'
import { decodedBase64 } from '../../../mime/encoded-body.ts'
import { JmapError, RequestRefused } from '../core/errors.ts'
import { LIMITS, MAX_MESSAGE_BYTES } from '../core/limits.ts'
import { ensureAccount, type MailAccount } from '../index/accounts.repository.ts'
import type { OpenMail } from '../index/open-mail.ts'
import * as uploads from './blobs.repository.ts'
import { between, emailPieces, PIECE_BYTES, type Turn, uploadPieces } from './sources.ts'

const UPLOAD_PIECE_BYTES = 512 * 1024
const TASK_MS = 20_000
const MAX_TYPE = 255

const extractTask = taskIn<typeof import('../mime/extract-part.task.ts')>(
  'features/jmap/mime/extract-part',
)

export interface Blob {
  type: string
  bytes: Buffer
}

/** A blob on its way to a client. */
export interface Download {
  type: string
  /** In bytes, when it is known before the end. */
  size?: number
  body: Readable
}

type Needs = Pick<Core, 'db' | 'workers'>

export type Blobs = ReturnType<typeof blobService>

/** Uploads, messages and their parts. A blob belongs to one account and is unknown in any other. */
export function blobService({ db, workers }: Needs) {
  const running = slots(LIMITS.maxConcurrentUpload)

  async function store(account: MailAccount, type: string, body: Readable) {
    await ensureAccount(db, account)
    const room = await uploads.roomOf(db, account.id)
    const id = `U${ulid()}`
    await uploads.insertUpload(db, { id, account_id: account.id, media_type: type })
    try {
      const size = await storePieces(id, body, Math.min(room, LIMITS.maxSizeUpload), room)
      const isStored = await uploads.completeUpload(db, { id, accountId: account.id, size })
      if (!isStored) throw tooLarge(true)
      return { accountId: account.id, blobId: id, type, size }
    } catch (error) {
      await uploads.deleteUpload(db, id)
      throw error
    }
  }

  async function storePieces(id: string, body: Readable, limit: number, room: number) {
    let size = 0
    let number = 0
    let waiting: Buffer[] = []
    let waitingBytes = 0
    const flush = async () => {
      if (waitingBytes === 0) return
      await uploads.insertPiece(db, id, number++, Buffer.concat(waiting))
      waiting = []
      waitingBytes = 0
    }
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw tooLarge(limit === room)
      waiting.push(chunk)
      waitingBytes += chunk.length
      if (waitingBytes >= UPLOAD_PIECE_BYTES) await flush()
    }
    await flush()
    return size
  }

  async function readUpload(account: MailAccount, id: string): Promise<Blob | undefined> {
    const upload = await uploads.findUpload(db, account.id, id)
    if (!upload) return undefined
    const pieces: Buffer[] = []
    for await (const piece of uploadPieces(db, id)) pieces.push(piece)
    return { type: upload.media_type, bytes: await joined(pieces) }
  }

  const extract = (organizationId: string, whole: Blob, partId: string, maxBytes: number) =>
    workers.run(
      extractTask,
      { raw: forThread(whole.bytes), partId, maxBytes },
      { owner: organizationId, timeLimitMs: TASK_MS },
    )

  async function wholeDownload(account: MailAccount, turn: Turn, id: string) {
    if (id.startsWith('U')) {
      const upload = await uploads.findUpload(db, account.id, id)
      if (!upload) return undefined
      const size = upload.size ?? 0
      return { type: upload.media_type, size, body: streamOf(uploadPieces(db, id)) }
    }
    const pieces = emailPieces(db, turn, emailIdOf(id))
    const first = await pieces.next()
    if (first.done) return undefined
    const type = 'message/rfc822'
    if (first.value.length < PIECE_BYTES) return { type, ...buffered(first.value) }
    return { type, body: streamOf(startingWith(first.value, pieces)) }
  }

  async function readWhole(mail: OpenMail, id: string): Promise<Blob | undefined> {
    if (id.startsWith('U')) return readUpload(mail.account, id)
    const bytes = await readEmail(mail, emailIdOf(id))
    return bytes && { type: 'message/rfc822', bytes }
  }

  /** The bytes of a message on the mail server. */
  async function readEmail(mail: OpenMail, emailId: string): Promise<Buffer | undefined> {
    const place = await uploads.findPlace(db, mail.account.id, emailId)
    if (!place) return undefined
    if (place.size > MAX_MESSAGE_BYTES) {
      throw new JmapError('requestTooLarge', { description: 'The message is too large to be read' })
    }
    const imap = await mail.imap()
    await imap.read(place.path)
    const found = await fetchMessages(imap.wire, new Map([[place.uid, place.size]]))
    return found.get(place.uid)
  }

  return {
    readEmail,

    /** Undefined when this account has no such blob. */
    async read(mail: OpenMail, blobId: string): Promise<Blob | undefined> {
      const { id, partId } = readId(blobId)
      const whole = id === undefined ? undefined : await readWhole(mail, id)
      if (!whole || partId === undefined) return whole
      const part = await extract(mail.account.organizationId, whole, partId, whole.bytes.length)
      return part?.bytes && { type: part.type, bytes: bufferOf(part.bytes) }
    },

    /**
     * The same for a client that takes its time. A large blob is read as the client takes it, except
     * for a part in quoted-printable.
     */
    async download(
      account: MailAccount,
      turn: Turn,
      blobId: string,
    ): Promise<Download | undefined> {
      const { id, partId } = readId(blobId)
      if (id === undefined) return undefined
      if (partId === undefined) return wholeDownload(account, turn, id)
      const whole = await turn((mail) => readWhole(mail, id))
      const part = whole && (await extract(account.organizationId, whole, partId, PIECE_BYTES))
      if (!part) return undefined
      if (part.bytes) return { type: part.type, ...buffered(bufferOf(part.bytes)) }
      const { from, to, encoding } = part.encoded
      const pieces = id.startsWith('U')
        ? between(uploadPieces(db, id), from, to)
        : between(emailPieces(db, turn, emailIdOf(id), from), 0, to - from)
      const body = streamOf(pieces)
      return { type: part.type, body: encoding === 'base64' ? decodedBase64(body) : body }
    },

    /** Stores an upload piece by piece, so that memory stays small. */
    async upload(account: MailAccount, type: string, body: Readable) {
      const release = running.take(account.id)
      if (!release) {
        throw new RequestRefused('limit', 'Too many uploads at once', {
          limit: 'maxConcurrentUpload',
        })
      }
      try {
        return await store(account, type.slice(0, MAX_TYPE) || 'application/octet-stream', body)
      } finally {
        release()
      }
    },

    /** Stores bytes of another account here. */
    async copy(account: MailAccount, { type, bytes }: Blob): Promise<string> {
      return (await store(account, type, Readable.from([bytes]))).blobId
    },
  }
}

/** The upload or message of a blob, and the part of it if the blob is one. */
function readId(blobId: string): { id?: string; partId?: string } {
  const [, id, part] = /^([UB][0-9A-Za-z]{24,26})((?:-\d{1,4}){0,41})$/.exec(blobId) ?? []
  if (id === undefined) return {}
  return part ? { id, partId: part.slice(1).replaceAll('-', '.') } : { id }
}

const emailIdOf = (id: string): string => `E${id.slice(1)}`

const streamOf = (pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Readable =>
  Readable.from(pieces, { objectMode: false })

const buffered = (bytes: Buffer) => ({ size: bytes.length, body: streamOf([bytes]) })

async function* startingWith(first: Buffer, others: AsyncGenerator<Buffer>) {
  yield first
  yield* others
}

const tooLarge = (isQuota: boolean) =>
  isQuota
    ? new RequestRefused('limit', 'The mailbox has no room for this upload', {
        limit: 'quota',
        status: 413,
      })
    : new RequestRefused('limit', `An upload has at most ${LIMITS.maxSizeUpload} bytes`, {
        limit: 'maxSizeUpload',
        status: 413,
      })

export const blobNotFound = (id: string) => new JmapError('blobNotFound', { notFound: [id] })
