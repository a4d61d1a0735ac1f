import type { Direction, EntityType } from '../../../hosting/rate-rules.ts'
import type { PerWindow, WindowName } from './windows.ts'

/** The entity whose messages are counted. All subjects of one decision belong to one organization. */
export interface Subject {
  organizationId: string
  type: EntityType | 'credential'
  identifier: string
  direction: Direction
}

/** A subject with its limits. */
export interface Bound {
  subject: Subject
  limits: PerWindow
  /** Thresholds in percent of a limit. */
  warning: number
  critical: number
}

export interface Question {
  organizationId: string
  bounds: readonly Bound[]
  /** 0 when the message has been counted already and has more recipients now. */
  messages: number
  recipients: number
  /** Count the message when it is allowed; otherwise only check. */
  record: boolean
  /** Identifies the message, so that a repeated question does not count it again. */
  instance?: string | undefined
  /** Milliseconds since 1970. */
  now: number
}

export interface Breach {
  bound: Bound
  window: WindowName
  level: 'warning' | 'critical'
  count: number
  limit: number
}

export interface Verdict {
  refused?: { bound: Bound; window: WindowName; count: number; limit: number }
  breaches: Breach[]
}

/** Counts messages: in this process, in Redis, or in the process that owns the counters. */
export interface Counters {
  /** Counts for all bounds, or for none when one of them refuses. */
  decide(question: Question): Verdict | Promise<Verdict>
  usage(subject: Subject, now: number): Promise<PerWindow>
  reset(subject: Subject): Promise<void>
}

/** The counters do not answer: the API returns 503, and POLICY_ON_FAILURE decides about mail. */
export class CountersUnavailable extends Error {}

export const nameOf = ({ organizationId, type, identifier, direction }: Subject): string =>
  `${organizationId} ${type} ${direction} ${identifier}`
