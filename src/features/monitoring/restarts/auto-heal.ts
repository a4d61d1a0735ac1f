import type { Tx } from '../../../database/database.ts'
import type { ServiceState } from '../states.repository.ts'
import type { Restarter } from './restarts.ts'

/** Services whose failure stops mail or lets viruses pass. Others are restarted only when the request names them. */
const HEALED = ['postfix', 'dovecot', 'rspamd', 'clamd']

export interface Action {
  service: string
  action: 'none' | 'restarted' | 'would_restart' | 'failed'
  reason: string
}

interface Options {
  dryRun: boolean
  /** Probes the service once more: a restart ends the connections of a server that works again. */
  answersNow: (service: string) => Promise<boolean>
  automatic: boolean
  store?: (work: (tx: Tx) => Promise<void>) => Promise<void>
}

/** Restarts failed services one after the other; returns the action and reason for each service. */
export async function heal(
  restarting: Restarter,
  states: readonly ServiceState[],
  wanted: readonly string[] | undefined,
  { dryRun, answersNow, automatic, store }: Options,
): Promise<Action[]> {
  const actions: Action[] = []
  for (const { name, status, error } of states.filter(({ name }) =>
    (wanted ?? HEALED).includes(name),
  )) {
    const say = (action: Action['action'], reason: string) =>
      actions.push({ service: name, action, reason })
    const can = restarting.can(name)
    if (status === 'up') say('none', 'it is up')
    else if (await answersNow(name)) say('none', 'it is up again')
    else if (can.why !== undefined) say('none', can.why)
    else if (dryRun) say('would_restart', error ?? `it is ${status}`)
    else {
      const outcome = await restarting.restart(name, {
        automatic,
        reason: error ?? `it is ${status}`,
        ...(store && { store }),
      })
      if (outcome.kind === 'restarted') say('restarted', error ?? `it was ${status}`)
      else if (outcome.kind === 'failed') say('failed', outcome.error)
      else if (outcome.kind === 'impossible') say('none', outcome.why)
      else say('none', `restarted too often; again in ${outcome.retryAfter} seconds`)
    }
  }
  return actions
}
