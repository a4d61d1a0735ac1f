import type { Config } from '../../../config/index.ts'
import { type Counters, CountersUnavailable, type Verdict } from './counters.ts'
import { WINDOWS } from './windows.ts'

const PATIENCE_MS = 5000

/** Asks the process that owns the counters. */
export function remoteCounters(
  { RATE_LIMITER_URL }: Pick<Config, 'RATE_LIMITER_URL'>,
  internalToken: string,
): Counters {
  const call = async (path: string, body?: object) => {
    try {
      const response = await fetch(new URL(path, RATE_LIMITER_URL), {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${internalToken}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      if (!response.ok) throw new Error(`it answered ${response.status}`)
      return (await response.json()) as unknown
    } catch (error) {
      throw new CountersUnavailable('the rate limiter does not answer', { cause: error })
    }
  }
  return {
    decide: async (question) => (await call('/decide', question)) as Verdict,
    async usage(subject) {
      const path = `/get_usage/${subject.type}/${encodeURIComponent(subject.identifier)}`
      const answer = await call(`${path}?direction=${subject.direction}`)
      const { usage = {} } = answer as { usage?: Record<string, number> }
      return WINDOWS.map(({ name }) => usage[`${name}_count`] ?? 0)
    },
    async reset({ type, identifier, direction }) {
      // The process that received the request emits the event.
      await call('/reset_counters', { type, identifier, direction, quiet: true })
    },
  }
}
