import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type Opening } from './client.ts'
import type { Target } from './connect.ts'
import { hostsOf } from './hosts.ts'

/** The next host is tried when the one before it has not answered for this long. */
const STAGGER_MS = 300
/** While no host accepts connections, this limits how often they are asked. */
const PAUSE_MS = 200
/** A host that refused is asked again after this time, while another one is silent. */
const AGAIN_MS = 500
const CONNECT_MS = 5000
const LOOK_UP = {
  name: 'look-up',
  connectMs: CONNECT_MS,
  budget: { statementMs: 5000, lockMs: 5000, silenceMs: 5000 },
}

export type OpenClient = (opening: Omit<Opening, 'needsPrimary' | 'connectMs'>) => Promise<Client>

/** Opens connections to the server that accepts writes, first where the last one was opened. */
export function primaryOf(target: Target, connectMs = CONNECT_MS): OpenClient {
  const { targets, needsPrimary } = hostsOf(target)
  let preferred = targets[0] as Target
  let failure: { error: unknown; at: number } | undefined
  let search: Promise<Target> | undefined

  /** All connections that are to be opened wait for one search. */
  const found = () => {
    const order = [preferred, ...targets.filter((one) => one !== preferred)]
    search ??= searchPrimary(order, needsPrimary).finally(() => {
      search = undefined
    })
    return search
  }

  return async (opening) => {
    if (failure && performance.now() - failure.at < PAUSE_MS) throw failure.error
    const openAt = (one: Target) => Client.open(one, { ...opening, connectMs, needsPrimary })
    try {
      const first = openAt(preferred)
      if (targets.length === 1) return await first
      const client = await Promise.race([first.catch(() => undefined), sleep(STAGGER_MS)])
      if (client) return client
      first.then(
        (late) => late.discard(),
        () => {},
      )
      preferred = await found()
      return await openAt(preferred)
    } catch (error) {
      failure = { error, at: performance.now() }
      throw error
    }
  }
}

/** The one target of the list that accepts writes, for commands that stay with it to their end. */
export async function findPrimary(target: Target): Promise<Target> {
  const { targets, needsPrimary } = hostsOf(target)
  const [only] = targets
  if (targets.length === 1 && !needsPrimary) return only as Target
  return searchPrimary(targets, needsPrimary)
}

/**
 * Tries the targets in order, without waiting for one that is silent; the first success counts. A silent
 * primary may be replaced at any moment, so the others are asked again until it has failed too.
 */
function searchPrimary(targets: readonly Target[], needsPrimary: boolean): Promise<Target> {
  return new Promise((resolve, reject) => {
    const failures = new Map<Target, unknown>()
    let next = 0
    let isOver = false
    let timer: NodeJS.Timeout | undefined

    const tryNext = () => {
      clearTimeout(timer)
      const target = targets[next++]
      if (target === undefined || isOver) return
      if (next < targets.length) timer = setTimeout(tryNext, STAGGER_MS)
      ask(target)
    }
    const ask = (target: Target) => {
      if (isOver) return
      Client.open(target, { ...LOOK_UP, needsPrimary }).then(
        (client) => {
          client.close().catch(() => {})
          end(() => resolve(target))
        },
        (error) => {
          const isFirst = !failures.has(target)
          failures.set(target, error)
          if (failures.size === targets.length)
            end(() => reject(failures.get(targets[0] as Target)))
          else setTimeout(ask, AGAIN_MS, target)
          if (isFirst) tryNext()
        },
      )
    }
    const end = (settle: () => void) => {
      isOver = true
      clearTimeout(timer)
      settle()
    }
    tryNext()
  })
}
