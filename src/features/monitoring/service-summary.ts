import type { Core } from '../../core.ts'
import { freshStates } from './states.repository.ts'

export interface ServiceSummary {
  up: number
  total: number
  down: number
  unhealthy: { name: string; status: string }[]
}

/** The services as the last sweep left them; throws when the last sweep is too long ago. */
export async function serviceSummary({
  config,
  db,
  now,
}: Pick<Core, 'config' | 'db' | 'now'>): Promise<ServiceSummary> {
  const states = await freshStates(db, config, now())
  if (states.length === 0) throw new Error('no recent sweep of the monitoring')
  const unhealthy = states
    .filter(({ status }) => status !== 'up')
    .map(({ name, status }) => ({ name, status }))
  const total = states.length
  return { up: total - unhealthy.length, total, down: unhealthy.length, unhealthy }
}
