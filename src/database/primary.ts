import { Client, type Opening } from './client.ts'
import type { Target } from './connect.ts'
import { hostsOf } from './hosts.ts'

/** The next host is tried when the one before it has not answered for this long. */
const STAGGER_MS = 300
/** While no host accepts connections, this limits how often they are asked. */
const PAUSE_MS = 200

export type OpenClient = (opening: Omit<Opening, 'needsPrimary'>) => Promise<Client>

/** Opens connections to the server that accepts writes, first where the last one was opened. */
export function primaryOf(target: Target): OpenClient {
  const { targets, needsPrimary } = hostsOf(target)
  let preferred = targets[0] as Target
  let failure: { error: unknown; at: number } | undefined

  return async (opening) => {
    if (failure && performance.now() - failure.at < PAUSE_MS) throw failure.error
    const order = [preferred, ...targets.filter((one) => one !== preferred)]
    try {
      const { client, target: found } = await firstOf(order, (one) =>
        Client.open(one, { ...opening, needsPrimary }),
      )
      preferred = found
      failure = undefined
      return client
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
  const budget = { statementMs: 5000, lockMs: 5000, silenceMs: 5000 }
  const found = await firstOf(targets, (one) =>
    Client.open(one, { name: 'look-up', budget, needsPrimary }),
  )
  await found.client.close()
  return found.target
}

/** Tries the targets in order, without waiting for one that is silent; the first success counts. */
function firstOf(targets: readonly Target[], open: (target: Target) => Promise<Client>) {
  return new Promise<{ client: Client; target: Target }>((resolve, reject) => {
    let next = 0
    let pending = 0
    let isFound = false
    let timer: NodeJS.Timeout | undefined

    const tryNext = () => {
      clearTimeout(timer)
      const target = targets[next++]
      if (target === undefined) return
      pending++
      if (next < targets.length) timer = setTimeout(tryNext, STAGGER_MS)
      open(target).then(
        (client) => {
          clearTimeout(timer)
          if (isFound) return client.discard()
          isFound = true
          resolve({ client, target })
        },
        (error) => {
          pending--
          if (isFound) return
          if (next < targets.length) tryNext()
          else if (pending === 0) reject(error)
        },
      )
    }
    tryNext()
  })
}
