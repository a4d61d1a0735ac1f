import { type Appended, append, type NewMessage, takesMany } from '../../../mail/imap/append.ts'
import { Refused, type Wire } from '../../../mail/imap/wire.ts'
import { headersOf, headerValue } from '../../../mime/headers.ts'
import type { FailedMessage } from './outcome.ts'

type Target = Wire & { capabilities: Set<string> }
type Message = NewMessage & { uid: number }

export interface Stored {
  copies: { uid: number; targetUid: number | null }[]
  failed: FailedMessage[]
}

/** Stores messages at the target, with MULTIAPPEND if possible. Returns copies and refused messages. */
export async function store(target: Target, path: string, messages: Message[]): Promise<Stored> {
  const stored: Stored = { copies: [], failed: [] }
  const taken = ({ uids }: Appended, of: Message[]) => {
    for (const [index, { uid }] of of.entries()) {
      stored.copies.push({ uid, targetUid: uids?.[index] ?? null })
    }
  }
  if (messages.length > 1 && takesMany(target)) {
    try {
      taken(await append(target, path, messages), messages)
      return stored
    } catch (error) {
      // MULTIAPPEND stores all or none, so the messages are sent one by one to find the refused one.
      if (!(error instanceof Refused)) throw error
    }
  }
  for (const message of messages) {
    try {
      taken(await alone(target, path, message), [message])
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const messageId = messageIdOf(message)
      stored.failed.push({
        uid: message.uid,
        type: typeOf(error),
        detail: error.message,
        messageId,
      })
    }
  }
  return stored
}

/** Retries without keywords, which some servers refuse. */
async function alone(target: Target, path: string, message: Message): Promise<Appended> {
  try {
    return await append(target, path, [message])
  } catch (error) {
    const flags = message.flags.filter((flag) => flag.startsWith('\\'))
    const mayHelp = error instanceof Refused && !isAboutSize(error)
    if (!mayHelp || flags.length === message.flags.length) throw error
    return append(target, path, [{ ...message, flags }])
  }
}

const isAboutSize = ({ code }: Refused) => ['OVERQUOTA', 'TOOBIG', 'LIMIT'].includes(code)

const typeOf = ({ code }: Refused): string => {
  if (code === 'OVERQUOTA') return 'quota_exceeded'
  return code === 'TOOBIG' || code === 'LIMIT' ? 'message_too_large' : 'append_refused'
}

const HEADER_BYTES = 64 * 1024

function messageIdOf({ body }: Message): string {
  if (!Buffer.isBuffer(body)) return ''
  const value = headerValue(headersOf(body.subarray(0, HEADER_BYTES)), 'message-id') ?? ''
  return /^<[^>]{1,900}>/.exec(value)?.[0] ?? ''
}
