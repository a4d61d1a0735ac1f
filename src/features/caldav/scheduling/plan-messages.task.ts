import { ulid } from '../../../lib/ulid.ts'
import { withAnswers } from './answers.ts'
import { type Change, type Message, messagesOf, RefusedChange } from './plan.ts'
import { writeMail } from './write-mail.ts'

interface Input extends Omit<Change, 'now'> {
  now: string
  hostname: string
  /** The client knows the object without the latest answers, which are kept. */
  keepsAnswers: boolean
}

interface Planned {
  messages: WrittenMessage[]
  merged: string | undefined
}

/** A message that is ready to be sent. */
export interface WrittenMessage extends Pick<Message, 'method' | 'uid' | 'sender' | 'recipient'> {
  id: string
  content: string
}

/** The messages of a change, or the condition that it breaks. Objects are large: runs in a worker thread. */
export default ({
  hostname,
  keepsAnswers,
  ...input
}: Input): Planned | { condition: string; message: string } => {
  const now = new Date(input.now)
  try {
    const messages = messagesOf({ ...input, now }).map((message) => {
      const { method, uid, sender, recipient } = message
      const id = ulid(now.getTime())
      const content = writeMail(message, { id, hostname, now })
      return { id, method, uid, sender, recipient, content }
    })
    return { messages, merged: keepsAnswers ? withAnswers(input) : undefined }
  } catch (error) {
    const condition = error instanceof RefusedChange ? error.condition : 'C:valid-calendar-data'
    return { condition, message: (error as Error).message }
  }
}
