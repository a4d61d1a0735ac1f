/** The data that log lines gave for a message in the queue of the mail server. */
export interface Message {
  queueId: string
  client?: string
  saslUsername?: string
  sender?: string
  size?: number
  messageId?: string
  subject?: string
  /** The message was passed to a filter and will return under another queue id. */
  handedOver?: boolean
  /** The message has returned from the filter. */
  linked?: boolean
  /** The message has left the queue. */
  removed?: boolean
  /** The deferred recipients. The message bounces for them when it expires. */
  deferred?: Deferred[]
}

export interface Deferred {
  recipient: string
  relay: string
  dsn: string | null
  detail: string
  /** The row of the deferred attempt. */
  attemptId?: string
  attemptAt?: string
}

const MAX_MESSAGES = 20_000
const MAX_DEFERRED = 1000

export type Messages = ReturnType<typeof messagesUnderWay>

/**
 * The messages in the queue; the least recently logged ones are evicted first. `takeChanges` returns the
 * changes since its last call, to be stored in the transaction that stores the attempts.
 */
export function messagesUnderWay(stored: Message[], limit = MAX_MESSAGES) {
  const messages = new Map<string, Message>()
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
    messages.delete(queueId)
    changed.delete(queueId)
    if (isStored.delete(queueId)) gone.add(queueId)
    if (messageId !== undefined && byMessageId.get(messageId) === message) {
      byMessageId.delete(messageId)
    }
  }
  for (const message of stored) {
    messages.set(message.queueId, message)
    isStored.add(message.queueId)
    index(message)
  }

  return {
    get size() {
      return messages.size
    },
    find: (queueId: string): Message | undefined => messages.get(queueId),

    /** Drops an earlier message with this queue id: Postfix reuses short ids. */
    begin(queueId: string, news: Omit<Message, 'queueId'>) {
      const before = messages.get(queueId)
      if (before) forget(before)
      this.note(queueId, news)
    },

    /** Updates a message, or adds it. */
    note(queueId: string, news: Omit<Message, 'queueId'>): Message {
      const message = Object.assign(messages.get(queueId) ?? { queueId }, news)
      messages.delete(queueId)
      messages.set(queueId, message)
      changed.add(queueId)
      index(message)
      if (messages.size > limit) forget(messages.values().next().value as Message)
      return message
    },

    noteDeferred(queueId: string, why: Deferred) {
      const others = (messages.get(queueId)?.deferred ?? []).filter(
        ({ recipient }) => recipient !== why.recipient,
      )
      this.note(queueId, { deferred: [...others.slice(0, MAX_DEFERRED - 1), why] })
    },

    noteDone(queueId: string, recipient: string) {
      const waiting = messages.get(queueId)?.deferred
      if (!waiting?.some((one) => one.recipient === recipient)) return
      this.note(queueId, { deferred: waiting.filter((one) => one.recipient !== recipient) })
    },

    /** The login of the message with this Message-ID that was passed to the filter. */
    linkTo(messageId: string, sender: string): string | undefined {
      const first = byMessageId.get(messageId)
      if (!first || first.sender !== sender) return undefined
      const { saslUsername } = first
      if (first.removed) forget(first)
      else this.note(first.queueId, { linked: true })
      return saslUsername
    },

    /** A message that was passed to a filter is kept until it returns. */
    remove(queueId: string) {
      const message = messages.get(queueId)
      if (!message) return
      if (message.handedOver && !message.linked) this.note(queueId, { removed: true })
      else forget(message)
    },

    /** Copies all strings: a slice of the log text would keep the whole portion in memory. */
    takeChanges(): { changed: Message[]; gone: string[] } {
      const changes = [...changed].map((queueId) => {
        const before = messages.get(queueId) as Message
        const copy: Message = JSON.parse(JSON.stringify(before))
        Object.assign(before, copy)
        // The key is a slice as well, so it is replaced too.
        messages.delete(queueId)
        messages.set(copy.queueId, before)
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
