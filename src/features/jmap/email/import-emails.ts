import { type Arguments, objectArgument, optionalString } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { stateOf } from '../index/change-log.ts'
import { readKeywords, readMailboxes, readReceivedAt, storeEmail } from './store-email.ts'

/** RFC 8621 section 4.8. */
export async function importEmails(call: Call, args: Arguments) {
  const { core, mail, createdIds } = call
  const emails = objectArgument(args, 'emails')
  if (Object.keys(emails).length > LIMITS.maxObjectsInSet) throw new JmapError('requestTooLarge')
  const ifInState = optionalString(args, 'ifInState')
  const { oldState, newState, created, notCreated } = await setObjects(
    { create: emails, ifInState },
    createdIds,
    {
      state: async () => String(await stateOf(core.db, mail.account.id)),
      create: (object) => importEmail(call, object),
      update: async () => null,
      destroy: async () => {},
    },
  )
  return { accountId: mail.account.id, oldState, newState, created, notCreated }
}

async function importEmail(call: Call, object: Patch) {
  const { blobId, mailboxIds, keywords, receivedAt, ...unknown } = object
  const names = Object.keys(unknown)
  if (names.length > 0) throw invalidProperties(names)
  const storing = {
    mailboxes: await readMailboxes(call, mailboxIds),
    keywords: readKeywords(keywords),
    receivedAt: readReceivedAt(receivedAt, call.core.now()),
  }
  const blob = typeof blobId === 'string' ? await call.blobs.read(call.mail, blobId) : undefined
  if (!blob) throw invalidProperties(['blobId'])
  if (!isMessage(blob.bytes)) throw new JmapError('invalidEmail')
  return storeEmail(call, withCrlf(blob.bytes), storing)
}

/** Returns whether the bytes begin with a header field. */
export const isMessage = (bytes: Buffer): boolean =>
  /^[\x21-\x39\x3b-\x7e]+[ \t]*:/.test(bytes.toString('latin1', 0, 2000))

/** IMAP needs CR LF; a message with other line breaks is converted. */
function withCrlf(bytes: Buffer): Buffer {
  const end = bytes.indexOf(10)
  if (end <= 0 || bytes[end - 1] === 13) return bytes
  return Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}
