import { expect, it } from 'vitest'
import { chooseDaemons, daemons } from '../daemons/index.ts'
import { routeMatcher } from './forwarding.ts'
import { connectionsFor, planProcesses } from './plan.ts'

const plan = (SVC_WORKERS: number | 'auto', cores: number, services = 'all') =>
  planProcesses({ SVC_WORKERS }, chooseDaemons(services, 'test'), cores)

it.each([
  [1, 1],
  [3, 1],
  [4, 2],
  [7, 3],
  [16, 8],
])('on %i cores there are %i workers by default', (cores, workers) => {
  expect(plan('auto', cores).workers).toBe(workers)
})

it('divides only a server with the API, and runs every daemon in one kind of process', () => {
  expect(plan(4, 1).workers).toBe(4)
  expect(plan(4, 8, 'webhooks,dashboard').workers).toBe(1)
  const { web, once } = plan(4, 1)
  expect(new Set([...web, ...once])).toEqual(new Set(daemons))
  expect(web.map(({ name }) => name)).toContain('api')
  expect(once.map(({ name }) => name)).toContain('worker')
  expect(plan(4, 1, 'api,dashboard').once).toEqual([])
})

it('asks for connections for the pools of all processes', () => {
  expect(connectionsFor({ DATABASE_POOL: 10 }, plan(16, 1))).toBeGreaterThan(17 * 13)
})

it('recognizes the requests for routes of another process', () => {
  const routes = ['/webhook/status', '/limits/:type/:name', '/files/*']
  const matches = routeMatcher(routes.map((url) => ({ method: 'GET', url })))
  const paths = ['/webhook/status', '/limits/a/b%2Fc', '/files/a/b', '/webhook', '/limits/a', '/']
  expect(paths.map((path) => matches('GET', path))).toEqual([true, true, true, false, false, false])
  expect(paths.some((path) => matches('POST', path))).toBe(false)
})
