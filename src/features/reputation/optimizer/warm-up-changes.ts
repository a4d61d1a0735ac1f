import type { Tx } from '../../../database/database.ts'
import { isOrganization } from '../../../hosting/tenants.repository.ts'
import { isIpAddress, normalizeIp } from '../../../lib/ip.ts'
import { hasSeveralSenders } from './hosted.repository.ts'
import {
  NoSuchOrganization,
  NotAnAddress,
  ScheduleExists,
  ScheduleNotFound,
  SeveralSenders,
} from './optimizer.errors.ts'
import { startAfterPause } from './warm-up.ts'
import * as warming from './warming.repository.ts'

export interface WarmUpChange {
  target_daily_volume?: number
  warmup_days?: number
  paused?: boolean
}

export function sendingAddress(sent: string): string {
  if (!isIpAddress(sent)) throw new NotAnAddress('ip_address')
  return normalizeIp(sent)
}

/** Begins today. */
export async function begin(tx: Tx, sent: warming.NewSchedule, now: Date) {
  const ip_address = sendingAddress(sent.ip_address)
  const { organization_id } = sent
  if (organization_id !== null && !(await isOrganization(tx, organization_id))) {
    throw new NoSuchOrganization()
  }
  if (await hasSeveralSenders(tx)) throw new SeveralSenders()
  const schedule = await warming.insert(tx, { ...sent, ip_address }, now)
  if (!schedule) throw new ScheduleExists()
  return schedule
}

/** A paused schedule keeps the limit of its day; after the pause it goes on with the same day. */
export async function alter(tx: Tx, ip: string, sent: WarmUpChange, now: Date) {
  const { paused, ...fields } = sent
  const ip_address = sendingAddress(ip)
  const stored = await warming.lock(tx, ip_address)
  if (!stored) throw new ScheduleNotFound()
  const isPaused = stored.paused_at !== null
  const pause =
    paused === undefined || paused === isPaused
      ? {}
      : paused
        ? { paused_at: now.toISOString() }
        : { paused_at: null, started_at: startAfterPause(stored, now) }
  const changes = { ...fields, ...pause }
  return Object.keys(changes).length === 0 ? stored : warming.update(tx, ip_address, changes)
}

/** Mail that waits for it is released. */
export async function end(tx: Tx, ip: string) {
  const removed = await warming.remove(tx, sendingAddress(ip))
  if (!removed) throw new ScheduleNotFound()
  return removed
}
