/** Active: delivery is under way. Deferred: waits for a retry. Hold: stopped by an operator. */
export type QueueStatus = 'active' | 'deferred' | 'hold'

export interface QueuedMessage {
  queue_id: string
  status: QueueStatus
  sender: string
  recipients: { address: string; reason: string | null }[]
  /** Bytes. */
  size: number
  arrived: Date
}

/** The envelope and the header fields of a queued message; its body is never read. */
export interface QueuedHeaders {
  sender: string
  recipients: string[]
  headers: { name: string; value: string }[]
  /** True when the header is longer than what is read of it. */
  truncated: boolean
}

/** The queue is unreachable: not configured, Postfix is stopped, or it did not answer in time. */
export class QueueAway extends Error {}

/** The mail queue of the MTA. */
export interface MailQueue {
  /** False when this installation has no mail server whose queue could be read. */
  readonly isConfigured: boolean
  /**
   * Calls `visit` for one message after the other, so that a long queue is never held in memory.
   * Returns undefined after a complete listing, otherwise the reason why it is incomplete.
   */
  walk(visit: (message: QueuedMessage) => void): Promise<string | undefined>
  /** Resolves when the queue is readable; does not read all of it. */
  probe(): Promise<void>
  /** Retries all deferred messages now. */
  flush(): Promise<void>
  /** Retries one message now; a message on hold stays there. */
  flushOne(queueId: string): Promise<void>
  /**
   * Restarts the processes of Postfix when they are idle. They do not use a database for a minute
   * after a failed connection.
   */
  reload(): Promise<void>
  /** Returns false for an unknown message. */
  hold(queueId: string): Promise<boolean>
  release(queueId: string): Promise<boolean>
  /** Lets a deferred or held message pass through Postfix again, under a new queue id. */
  requeue(queueId: string): Promise<boolean>
  delete(queueId: string): Promise<boolean>
  /** Returns the messages that were found and changed. */
  changeAll(change: QueueChange, queueIds: readonly string[]): Promise<string[]>
  /** Returns undefined for an unknown message. */
  headers(queueId: string): Promise<QueuedHeaders | undefined>
}

/** Actions of an operator on messages. The sender of deleted mail gets no notice. */
export const QUEUE_CHANGES = ['hold', 'release', 'requeue', 'delete'] as const
export type QueueChange = (typeof QUEUE_CHANGES)[number]

/** Accepts the short (hexadecimal) and the long queue ids of Postfix. */
export const isQueueId = (text: string): boolean => /^[A-Za-z0-9]{6,20}$/.test(text)
