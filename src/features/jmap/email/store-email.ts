import { isObject } from '../../../lib/is-object.ts'
import { append } from '../../../mail/imap/append.ts'
import { quoted } from '../../../mail/imap/messages.ts'
import { isDate } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import type { Call } from '../core/method.ts'
import { resolved } from '../core/set-objects.ts'
import { Refused } from '../imap/connection.ts'
import { encodeName } from '../imap/folder-names.ts'
import { flagsOf, isKeyword } from '../imap/keywords.ts'
import { emailBlobId } from '../index/ids.ts'
import { mailboxRows } from '../index/mailboxes.repository.ts'
import { findByUid } from './emails.repository.ts'

/** The folder, flags and date of a new message. */
export interface Storing {
  /** At least one. */
  mailboxes: { id: string; path: string }[]
  keywords: string[]
  receivedAt: Date
}

/** Checks `mailboxIds`; `#id` stands for a mailbox that the same request creates. */
export async function readMailboxes(call: Call, value: unknown) {
  const wrong = invalidProperties(['mailboxIds'])
  if (!isObject(value) || Object.keys(value).length === 0) throw wrong
  const paths = new Map(
    (await mailboxRows(call.core.db, call.mail.account.id)).map(({ id, path }) => [id, path]),
  )
  return Object.entries(value).map(([reference, isIn]) => {
    const id = resolved(reference, call.createdIds)
    const path = paths.get(id)
    if (isIn !== true || path === undefined) throw wrong
    return { id, path }
  })
}

/** Checks `keywords`; they are compared without case. */
export function readKeywords(value: unknown): string[] {
  if (value === undefined) return []
  const isValid =
    isObject(value) &&
    Object.entries(value).every(([word, isOn]) => isOn === true && isKeyword(word))
  if (!isValid) throw invalidProperties(['keywords'])
  return [...new Set(Object.keys(value).map((word) => word.toLowerCase()))]
}

export function readReceivedAt(value: unknown, now: Date): Date {
  if (value === undefined || value === null) return now
  if (!isDate(value)) throw invalidProperties(['receivedAt'])
  return new Date(value)
}

/** Stores a message and returns the properties that the server has set. */
export async function storeEmail(call: Call, raw: Buffer, storing: Storing) {
  const { core, mail } = call
  const [first, ...others] = storing.mailboxes as [Storing['mailboxes'][0], ...Storing['mailboxes']]
  const imap = await mail.imap()
  const uid = await refusals(async () => {
    const message = {
      flags: flagsOf(storing.keywords),
      date: storing.receivedAt,
      size: raw.length,
      body: raw,
    }
    const { uids } = await append(imap.wire, encodeName(first.path), [message])
    const [stored] = uids ?? []
    if (stored === undefined) throw new JmapError('serverFail', { description: 'No UID was given' })
    if (others.length > 0) await imap.select(first.path)
    for (const { path } of others) {
      await imap.command(`UID COPY ${stored} ${quoted(encodeName(path))}`)
    }
    return stored
  })
  await mail.sync()
  const email = await findByUid(core.db, mail.account.id, first.id, uid)
  if (!email) throw new JmapError('serverFail', { description: 'The message was removed again' })
  return {
    id: email.id,
    blobId: emailBlobId(email.id),
    threadId: email.thread_id,
    size: email.size,
  }
}

/** A refusal of the mail server is the answer for one message, not for the whole request. */
export async function refusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const type = error.code === 'OVERQUOTA' ? 'overQuota' : 'forbidden'
    throw new JmapError(type, { description: error.message })
  }
}
