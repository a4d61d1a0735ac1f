import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { CheckFailed, ServiceDown, ServiceUp } from './monitoring.events.ts'
import { type Target, targetsOf } from './probes/targets.ts'
import { forgetState, lockStates, type ServiceState, storeState } from './states.repository.ts'

const PAUSE_MS = 200
const SHOWN_ERROR = 300
/** The host name was not resolved, or this process has no free file: the service may well work. */
const NOT_EXAMINED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EMFILE', 'ENFILE'])

type Needs = Pick<Core, 'config' | 'db' | 'events' | 'mailServers' | 'now' | 'redis'>
type Found = Omit<ServiceState, 'changed_at'>

/** Probes every service once, stores changes with their events, and returns the number of changes. */
export async function sweep(core: Needs): Promise<number> {
  const { db, events, now } = core
  const targets = await targetsOf(core)
  const found = await Promise.all(targets.map((target) => examine(target, now)))

  return db.transaction().execute(async (tx) => {
    const before = await lockStates(tx)
    let changes = 0
    for (const state of found) {
      const old = before.get(state.name)
      // A newer sweep has stored its results already.
      if (old && old.checked_at > state.checked_at) continue
      const isChanged = old?.status !== state.status
      const changed_at = isChanged || !old ? state.checked_at : old.changed_at
      await storeState(tx, { ...state, changed_at })
      if (isChanged && (await tell(tx, events, old, state))) changes++
    }
    const names = new Set(found.map(({ name }) => name))
    for (const name of before.keys()) if (!names.has(name)) await forgetState(tx, name)
    return changes
  })
}

/** Retries once after a moment: one lost packet is not an outage. */
async function examine(target: Target, now: () => Date): Promise<Found> {
  const { name, protocol, critical } = target
  const begun = performance.now()
  let response_time: number | null = null
  let error: string | null = null
  let isUnexamined = false
  for (let attempt = 1; attempt <= 2; attempt++) {
    const asked = performance.now()
    try {
      await target.probe()
      response_time = rounded(performance.now() - asked)
      error = null
      break
    } catch (problem) {
      error = (problem as Error).message.slice(0, SHOWN_ERROR) || 'it does not answer'
      isUnexamined = NOT_EXAMINED.has((problem as NodeJS.ErrnoException).code ?? '')
      if (attempt === 1) await sleep(PAUSE_MS)
    }
  }
  const status = error === null ? 'up' : isUnexamined ? 'error' : 'down'
  return { ...stamp(), status, response_time, error }

  function stamp() {
    const check_duration = rounded(performance.now() - begun)
    return { name, protocol, critical, check_duration, checked_at: now().toISOString() }
  }
}

/** Returns whether to emit an event; a service that is healthy at the first probe emits none. */
async function tell(
  tx: Tx,
  events: Core['events'],
  old: ServiceState | undefined,
  { name, status, critical, error }: Found,
): Promise<boolean> {
  const about = { org_id: null }
  const change = {
    service: name,
    old_status: old?.status ?? 'unknown',
    new_status: status,
    critical,
  }
  if (status === 'up') {
    if (!old) return false
    await events.emit(tx, ServiceUp, about, change)
  } else if (status === 'error') {
    await events.emit(tx, CheckFailed, about, { service: name, error: error ?? '' })
  } else {
    await events.emit(tx, ServiceDown, about, { ...change, error: error ?? '' })
  }
  return true
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100
