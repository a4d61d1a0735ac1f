import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { policyClient } from '../../test/support/policy.ts'
import type { Log } from '../log.ts'
import { policyServer } from './server.ts'

const REQUESTS = 10_000

it.each([
  ['at once', () => 'DUNNO'],
  ['after a promise', async () => 'DUNNO'],
])('runs other work between many requests that are answered %s', async (_, decide) => {
  let inThisTurn = 0
  let most = 0
  const count = () => {
    most = Math.max(most, inThisTurn)
    inThisTurn = 0
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  const { server, stop } = policyServer(() => {
    inThisTurn++
    return decide()
  }, {} as Log)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = policyClient((server.address() as AddressInfo).port)
  const answers = Array.from({ length: REQUESTS - 1 }, () => client.send(''))
  answers.push(client.send('request=x\n\n'.repeat(REQUESTS)))
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['DUNNO']))
  clearImmediate(turn)
  client.close()
  await stop()
  expect(most).toBeLessThan(1000)
})
