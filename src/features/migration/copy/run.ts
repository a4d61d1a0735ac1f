import type { Core } from '../../../core.ts'
import type { ImapServer } from '../../../mail/imap/connect.ts'
import type { ClaimedJob } from './claims.repository.ts'

export type Needs = Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now' | 'outbound' | 'vault'>

/** One daemon at work on one job. */
export interface Run {
  core: Needs
  job: ClaimedJob & { pair_id: string }
  daemon: string
  source: ImapServer
  target: ImapServer
  /** Ends when the job is cancelled, the daemon stops, or another one has the job. */
  signal: AbortSignal
  /** Ends a little later: what is on its way to the target by then may arrive and be written down. */
  cut: AbortSignal
  /** False when another daemon may have the job by now: nothing may be stored any more. */
  isOurs(): boolean
  /** Messages that were on their way when a connection broke, and how often. */
  suspects: Map<string, number>
  /** How often a connection broke over a message that was alone on its way. */
  singledOut: number
  /** Copied since the run began. */
  migrated: number
  currentFolder: string | undefined
}

/** The job is not ours to go on with: cancelled, or in other hands. */
export class Stopped extends Error {}

export const suspectKey = (folder: string, uid: number): string => `${uid} ${folder}`

/** Flags in one order, without the one that is the server's own. */
export const flagsOf = (flags: Iterable<string> | undefined): string[] =>
  [...(flags ?? [])].filter((flag) => flag !== '\\Recent').sort()
