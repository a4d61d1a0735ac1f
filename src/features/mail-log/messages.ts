/** What is known of a message while it is in the mail server's queue. */
export interface Message {
  queueId: string
  client?: string
  saslUsername?: string
  sender?: string
  size?: number
  messageId?: string
  subject?: string
  /** It went to a filter, from which it will come back under another queue id. */
  handedOver?: boolean
  /** It has come back. */
  linked?: boolean
  /** It has left the queue. */
  removed?: boolean
  /** Recipients it was not delivered to yet, and why: those who never get it when it expires. */
  deferred?: Deferred[]
}

interface Deferred {
  recipient: string
  relay: string
  dsn: string | null
  detail: string
}

const MAX_MESSAGES = 20_000
const MAX_DEFERRED = 1000

export type Messages = ReturnType<typeof messagesUnderWay>

/**
 * The messages under way, the least recently mentioned ones forgotten first. Notes what changed since
 * the last `takeChanges`, which belongs into the same transaction as what was made of the lines.
 */
export function messagesUnderWay(stored: Message[], limit = MAX_MESSAGES) {
  const known = new Map<string, Message>()
  const byMessageId = new Map<string, Message>()
  const isStored = new Set<string>()
  const changed = new Set<string>()
  const gone = new Set<string>()

  const index = (message: Message) => {
    if (message.saslUsername !== undefined && message.messageId !== undefined) {
      byMessageId.set(message.messageId, message)
    }
  }
  const forget = (message: Message) => {
    const { queueId, messageId } = message
    known.delete(queueId)
    changed.delete(queueId)
    if (isStored.delete(queueId)) gone.add(queueId)
    if (messageId !== undefined && byMessageId.get(messageId) === message) {
      byMessageId.delete(messageId)
    }
  }
  for (const message of stored) {
    known.set(message.queueId, message)
    isStored.add(message.queueId)
    index(message)
  }

  return {
    get size() {
      return known.size
    },
    find: (queueId: string): Message | undefined => known.get(queueId),

    /** Whatever had the queue id before is gone: short ones are used again. */
    begin(queueId: string, news: Omit<Message, 'queueId'>) {
      const before = known.get(queueId)
      if (before) forget(before)
      this.note(queueId, news)
    },

    /** Changes what is known, or begins to know it. */
    note(queueId: string, news: Omit<Message, 'queueId'>): Message {
      const message = Object.assign(known.get(queueId) ?? { queueId }, news)
      known.delete(queueId)
      known.set(queueId, message)
      changed.add(queueId)
      index(message)
      if (known.size > limit) forget(known.values().next().value as Message)
      return message
    },

    noteDeferred(queueId: string, why: Deferred) {
      const others = (known.get(queueId)?.deferred ?? []).filter(
        ({ recipient }) => recipient !== why.recipient,
      )
      this.note(queueId, { deferred: [...others.slice(0, MAX_DEFERRED - 1), why] })
    },

    noteDone(queueId: string, recipient: string) {
      const waiting = known.get(queueId)?.deferred
      if (!waiting?.some((one) => one.recipient === recipient)) return
      this.note(queueId, { deferred: waiting.filter((one) => one.recipient !== recipient) })
    },

    /** Who logged in for the message that came back from a filter with this Message-ID. */
    linkTo(messageId: string, sender: string): string | undefined {
      const first = byMessageId.get(messageId)
      if (!first || first.sender !== sender) return undefined
      const { saslUsername } = first
      if (first.removed) forget(first)
      else this.note(first.queueId, { linked: true })
      return saslUsername
    },

    /** A message that is with a filter is remembered until it comes back. */
    remove(queueId: string) {
      const message = known.get(queueId)
      if (!message) return
      if (message.handedOver && !message.linked) this.note(queueId, { removed: true })
      else forget(message)
    },

    /** Strings that are kept are copied: a piece of the log would keep the whole of it in memory. */
    takeChanges(): { changed: Message[]; gone: string[] } {
      const changes = [...changed].map((queueId) => {
        const before = known.get(queueId) as Message
        const copy: Message = JSON.parse(JSON.stringify(before))
        Object.assign(before, copy)
        // Keys keep memory too.
        known.delete(queueId)
        known.set(copy.queueId, before)
        isStored.add(copy.queueId)
        index(before)
        return copy
      })
      const left = [...gone].filter((queueId) => !isStored.has(queueId))
      changed.clear()
      gone.clear()
      return { changed: changes, gone: left }
    },
  }
}
