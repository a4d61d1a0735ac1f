import type { PerWindow, WindowName } from './windows.ts'

export type Direction = 'outbound' | 'inbound'
export type EntityType = 'organization' | 'domain' | 'mailbox'

/** Whose messages are counted. All that one decision looks at belongs to one organization. */
export interface Subject {
  organizationId: string
  type: EntityType | 'credential'
  identifier: string
  direction: Direction
}

/** A subject with what binds it. */
export interface Bound {
  subject: Subject
  limits: PerWindow
  /** Percent of a limit. */
  warning: number
  critical: number
}

export interface Question {
  organizationId: string
  bounds: readonly Bound[]
  amount: number
  /** Count what is allowed; otherwise only look. */
  record: boolean
  /** Names the message: asked again about the same one, it is not counted again. */
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

/** Where messages are counted: in this process, in Redis, or in the process that does it for all. */
export interface Counters {
  /** All bounds allow and count, or none does. */
  decide(question: Question): Verdict | Promise<Verdict>
  usage(subject: Subject, now: number): Promise<PerWindow>
  reset(subject: Subject): Promise<void>
}

/** Whoever counts is away: the API says so, and mail goes on as the configuration says. */
export class CountersUnavailable extends Error {}

export const nameOf = ({ organizationId, type, identifier, direction }: Subject): string =>
  `${organizationId} ${type} ${direction} ${identifier}`
