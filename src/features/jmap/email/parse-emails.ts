import { answerTooLarge } from '../core/answers.ts'
import { type Arguments, optionalIds } from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { orNull } from '../core/set-objects.ts'
import { isMessage } from './import-emails.ts'
import { wantedProperties } from './properties.ts'
import { parse } from './read-emails.ts'

/** Properties that only a stored message has. */
const STORED = ['id', 'threadId', 'mailboxIds', 'keywords', 'receivedAt']

/** RFC 8621 section 4.9: shows blobs as messages. */
export async function parseEmails(call: Call, args: Arguments) {
  const wanted = wantedProperties(args, true)
  const blobIds = optionalIds(args, 'blobIds')
  if (!blobIds) throw invalidArguments('blobIds must be a list of strings')
  if (blobIds.length > LIMITS.maxObjectsInGet) throw new JmapError('requestTooLarge')
  const parsed: Record<string, object> = {}
  const notParsable: string[] = []
  const notFound: string[] = []
  let room = call.room()
  for (const blobId of new Set(blobIds)) {
    const blob = await call.blobs.read(call.mail, blobId)
    if (!blob) notFound.push(blobId)
    else if (!isMessage(blob.bytes)) notParsable.push(blobId)
    else {
      const result = await parse(call, { raw: blob.bytes, blobId }, wanted, room)
      if (!result) throw answerTooLarge()
      room -= result.bytes
      const rest = wanted.properties.filter((property) => STORED.includes(property))
      parsed[blobId] = {
        ...result.shown,
        ...Object.fromEntries(rest.map((property) => [property, null])),
        ...(wanted.properties.includes('blobId') && { blobId }),
      }
    }
  }
  return {
    accountId: call.mail.account.id,
    parsed: orNull(parsed),
    notParsable: notParsable.length > 0 ? notParsable : null,
    notFound: notFound.length > 0 ? notFound : null,
  }
}
