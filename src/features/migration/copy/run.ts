import type { Core } from '../../../core.ts'
import type { Lease } from '../../../jobs/lease.ts'
import type { ImapServer } from '../../../mail/imap/connect.ts'
import type { ClaimedJob } from './claims.repository.ts'

export type Needs = Pick<
  Core,
  'config' | 'db' | 'events' | 'log' | 'mailServers' | 'now' | 'outbound' | 'vault'
>

/** One run of a job in this daemon. */
export interface Run {
  core: Needs
  job: ClaimedJob & { pair_id: string }
  lease: Lease
  source: ImapServer
  target: ImapServer
  /** Aborts when the job is cancelled, the daemon stops, or the lease is lost. */
  signal: AbortSignal
  /** Aborts a little later, so that messages being sent to the target can arrive and be recorded. */
  cut: AbortSignal
  /** False if another daemon may have claimed the job; then nothing may be copied. */
  isOurs(): boolean
  /** Counts of broken connections while a message was being copied, by `suspectKey`. */
  suspects: Map<string, number>
  /** The count of broken connections while a single message was being copied. */
  singledOut: number
  /** Messages copied in this run. */
  migrated: number
  currentFolder: string | undefined
}

/** The run must end: the job was cancelled, or another daemon has it. */
export class Stopped extends Error {}

export const suspectKey = (folder: string, uid: number): string => `${uid} ${folder}`

/** Sorted flags without `\Recent`, which only the server sets. */
export const flagsOf = (flags: Iterable<string> | undefined): string[] =>
  [...(flags ?? [])].filter((flag) => flag !== '\\Recent').sort()
