import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweep } from '../../src/features/monitoring/sweep.ts'
import type { App } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { waitFor } from '../support/wait.ts'

const PATH = '/api/v1/monitoring'
const SERVERS = ['postfix', 'dovecot', 'rspamd', 'clamd', 'doveadm', 'managesieve']

describe.skipIf(edgeMissing)(`monitoring of real mail servers${skipped}`, () => {
  let host: MailHost
  let operator: Awaited<ReturnType<App['operator']>>
  beforeAll(async () => {
    host = await startMailHost()
    await host.app.tenant('acme')
    operator = await host.app.operator('operator')
  })
  afterAll(() => host.stop())

  const states = async (): Promise<Record<string, string>> => {
    await sweep(host.app.core)
    const { services } = (await operator.get(`${PATH}/services`)).body.data
    return Object.fromEntries(SERVERS.map((name) => [name, services[name]?.status]))
  }
  const allUp = Object.fromEntries(SERVERS.map((name) => [name, 'up']))

  it('detects a killed server and restarts it, and mail is delivered again', async () => {
    expect(await states()).toEqual(allUp)
    const { Postfix: master, ...others } = host.pids()
    process.kill(master as number, 'SIGKILL')
    await waitFor(async () => (await states()).postfix === 'down')
    const { body } = await operator.post(`${PATH}/auto-heal`, { reason: 'test' })
    const { postfix, ...rest } = Object.fromEntries(
      body.data.actions_taken.map((one: Record<string, string>) => [one.service, one.action]),
    )
    expect(rest).toEqual({ clamd: 'none', dovecot: 'none', rspamd: 'none' })
    // The service monitoring, which runs here too, may have restarted it before, or be about to.
    expect(['restarted', 'none', 'failed']).toContain(postfix)
    const recoveries = await waitFor(async () => {
      const found = await host.app.core.db
        .selectFrom('events')
        .select('data')
        .where('event', '=', 'health.recovery')
        .where(sql<boolean>`(data -> 'success')::boolean`)
        .execute()
      return found.length > 0 && found.map(({ data }) => data)
    })
    const automatic = postfix !== 'restarted'
    expect(recoveries).toEqual([
      { service: 'postfix', action: 'restart', success: true, automatic },
    ])
    expect(await states()).toEqual(allUp)
    const { Postfix: again, ...untouched } = host.pids()
    expect(again).not.toBe(master)
    expect(untouched).toEqual(others)
    expect((await host.receive('admin@acme.test', 'after the restart')).code).toBe(250)
    await host.arrived('admin@acme.test', 'after the restart')
  })

  it.each(['dovecot', 'rspamd', 'clamd'])('restarts only %s when it is killed', async (name) => {
    const before = host.pids()
    const answer = await operator.post(`${PATH}/services/${name}/restart`, { reason: 'test' })
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { service: name, status: 'success' } },
    })
    const after = host.pids()
    const changed = Object.keys(after).filter((server) => after[server] !== before[server])
    expect(changed.map((server) => server.toLowerCase())).toEqual([name])
    expect(await states()).toEqual(allUp)
  })

  it('does not restart a server that an operator stopped', async () => {
    await host.down()
    expect((await states()).postfix).toBe('down')
    const healed = await operator.post(`${PATH}/auto-heal`)
    expect(healed.body.data.actions_taken.map((one: { action: string }) => one.action)).toEqual([
      'none',
      'none',
      'none',
      'none',
    ])
    expect(Object.values(host.pids())).toEqual([undefined, undefined, undefined, undefined])
  })
})
