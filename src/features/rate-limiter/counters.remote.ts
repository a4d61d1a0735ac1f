import type { Config } from '../../config.ts'
import { type Counters, CountersUnavailable } from './counters.ts'
import { WINDOWS } from './windows.ts'

const PATIENCE_MS = 5000

/** Asks the process that counts for all. It decides about mail itself, so nobody decides from afar. */
export function remoteCounters(
  config: Pick<Config, 'RATE_LIMITER_URL' | 'SVC_INTERNAL_TOKEN'>,
): Counters {
  const token = config.SVC_INTERNAL_TOKEN
  const call = async (path: string, body?: object) => {
    try {
      const response = await fetch(new URL(path, config.RATE_LIMITER_URL), {
        method: body ? 'POST' : 'GET',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      if (!response.ok) throw new Error(`it answered ${response.status}`)
      return (await response.json()) as { usage?: Record<string, number> }
    } catch (error) {
      throw new CountersUnavailable('the rate limiter does not answer', { cause: error })
    }
  }
  return {
    decide: () => {
      throw new CountersUnavailable('only the process that counts decides about mail')
    },
    async usage(subject) {
      const path = `/get_usage/${subject.type}/${encodeURIComponent(subject.identifier)}`
      const { usage = {} } = await call(`${path}?direction=${subject.direction}`)
      return WINDOWS.map(({ name }) => usage[`${name}_count`] ?? 0)
    },
    async reset({ type, identifier, direction }) {
      // The event is told by the process that was asked.
      await call('/reset_counters', { type, identifier, direction, quiet: true })
    },
  }
}
