import type { Readable } from 'node:stream'
import type { Core } from '../../../core.ts'
import { bufferOf, forThread, joined } from '../../../lib/shared-bytes.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { fetchMessages } from '../../../mail/imap/messages.ts'
import { JmapError, RequestRefused } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { ensureAccount, type MailAccount } from '../index/accounts.repository.ts'
import type { OpenMail } from '../index/open-mail.ts'
import * as uploads from './blobs.repository.ts'

const PIECE_BYTES = 512 * 1024
const TASK_MS = 20_000
const MAX_TYPE = 255

const extractTask = taskIn<typeof import('../mime/extract-part.task.ts')>(
  'features/jmap/mime/extract-part',
)

export interface Blob {
  type: string
  bytes: Buffer
}

type Needs = Pick<Core, 'db' | 'workers'>

export type Blobs = ReturnType<typeof blobService>

/** Uploads, messages and their parts. A blob belongs to one account and is unknown in any other. */
export function blobService({ db, workers }: Needs) {
  const running = new Map<string, number>()

  async function store(account: MailAccount, type: string, body: Readable) {
    await ensureAccount(db, account)
    const room = await uploads.roomOf(db, account.id)
    const id = `U${ulid()}`
    await uploads.insertUpload(db, { id, account_id: account.id, media_type: type })
    try {
      const size = await storePieces(id, body, Math.min(room, LIMITS.maxSizeUpload), room)
      await uploads.completeUpload(db, id, size)
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
      if (waitingBytes >= PIECE_BYTES) await flush()
    }
    await flush()
    return size
  }

  async function readUpload(account: MailAccount, id: string): Promise<Blob | undefined> {
    const upload = await uploads.findUpload(db, account.id, id)
    if (!upload) return undefined
    const pieces: Buffer[] = []
    for (let number = 0; ; number++) {
      const piece = await uploads.findPiece(db, id, number)
      if (!piece) break
      pieces.push(piece.bytes)
    }
    return { type: upload.media_type, bytes: await joined(pieces) }
  }

  async function partOf(organizationId: string, whole: Blob, partId: string) {
    const part = await workers.run(
      extractTask,
      { raw: forThread(whole.bytes), partId },
      { owner: organizationId, timeLimitMs: TASK_MS },
    )
    return part && { type: part.type, bytes: bufferOf(part.bytes) }
  }

  async function readWhole(mail: OpenMail, id: string): Promise<Blob | undefined> {
    if (id.startsWith('U')) return readUpload(mail.account, id)
    const bytes = await readEmail(mail, `E${id.slice(1)}`)
    return bytes && { type: 'message/rfc822', bytes }
  }

  /** The bytes of a message on the mail server. */
  async function readEmail(mail: OpenMail, emailId: string): Promise<Buffer | undefined> {
    const place = await uploads.findPlace(db, mail.account.id, emailId)
    if (!place) return undefined
    const imap = await mail.imap()
    await imap.read(place.path)
    const found = await fetchMessages(imap.wire, new Map([[place.uid, place.size]]))
    return found.get(place.uid)
  }

  return {
    readEmail,

    /** Undefined when this account has no such blob. */
    async read(mail: OpenMail, blobId: string): Promise<Blob | undefined> {
      const match = /^([UB][0-9A-Za-z]{24,26})((?:-\d{1,4}){0,41})$/.exec(blobId)
      if (!match?.[1]) return undefined
      const whole = await readWhole(mail, match[1])
      if (!whole || !match[2]) return whole
      const partId = match[2].slice(1).replaceAll('-', '.')
      return partOf(mail.account.organizationId, whole, partId)
    },

    /** Stores an upload piece by piece, so that memory stays small. */
    async upload(account: MailAccount, type: string, body: Readable) {
      const others = running.get(account.id) ?? 0
      if (others >= LIMITS.maxConcurrentUpload) {
        throw new RequestRefused('limit', 'Too many uploads at once', {
          limit: 'maxConcurrentUpload',
        })
      }
      running.set(account.id, others + 1)
      try {
        return await store(account, type.slice(0, MAX_TYPE) || 'application/octet-stream', body)
      } finally {
        const left = (running.get(account.id) ?? 1) - 1
        if (left > 0) running.set(account.id, left)
        else running.delete(account.id)
      }
    },

    /** Stores bytes of another account here. */
    async copy(account: MailAccount, { type, bytes }: Blob): Promise<string> {
      const { Readable } = await import('node:stream')
      return (await store(account, type, Readable.from([bytes]))).blobId
    },
  }
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
