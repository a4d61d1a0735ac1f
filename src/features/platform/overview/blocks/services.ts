import { freshStates } from '../../../monitoring/states.repository.ts'
import type { Block } from './block.ts'

interface Services {
  up: number
  total: number
  down: number
  unhealthy: { name: string; status: string }[]
}

/** What the monitoring saw last; nothing, when it has not looked lately. */
export const services: Block<Services> = async ({ config, db, now }) => {
  const states = await freshStates(db, config, now())
  if (states.length === 0) throw new Error('the monitoring has not looked lately')
  const unhealthy = states
    .filter(({ status }) => status !== 'up')
    .map(({ name, status }) => ({ name, status }))
  const total = states.length
  return { up: total - unhealthy.length, total, down: unhealthy.length, unhealthy }
}
