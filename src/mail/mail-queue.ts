/** Where a message waits: being tried, to be tried again later, or kept back by somebody. */
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

/** The queue cannot be seen or told anything: not configured, Postfix stopped, or no answer in time. */
export class QueueAway extends Error {}

/** The mail queue of an MTA. Beside it, the programs of the MTA are asked; a remote one needs another way. */
export interface MailQueue {
  /**
   * Shows every message to `visit`, one after the other, so that a long queue is never held in
   * memory. Undefined when the listing was complete, else what kept it from being.
   */
  walk(visit: (message: QueuedMessage) => void): Promise<string | undefined>
  /** Settles when the queue can be seen, without reading all of it. */
  probe(): Promise<void>
  /** Tries everything that is deferred, now. */
  flush(): Promise<void>
  /** Tries one message now; one that is on hold stays there. */
  flushOne(queueId: string): Promise<void>
  /** False when there is no such message. */
  hold(queueId: string): Promise<boolean>
  release(queueId: string): Promise<boolean>
}

/** Short ones are hexadecimal, long ones use most letters; neither holds anything else. */
export const isQueueId = (text: string): boolean => /^[A-Za-z0-9]{6,20}$/.test(text)
