import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../support/app.ts'
import { makeCertificate } from '../support/certificates.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

// The types are those of the oldest Node that runs Mailplane; the tests have the one of the packages.
const { getCACertificates, setDefaultCACertificates } = tls as unknown as {
  getCACertificates(): string[]
  setDefaultCACertificates(certificates: readonly string[]): void
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const { key, certificate: cert } = makeCertificate('localhost')

describe.skipIf(edgeMissing)(`push subscriptions of JMAP programs${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<App['tenant']>>
  let evil: Awaited<ReturnType<App['tenant']>>
  const receivers: Receiver[] = []
  const trusted = getCACertificates()
  beforeAll(async () => {
    setDefaultCACertificates([...trusted, cert])
    host = await startMailHost({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128' } })
    acme = await host.app.tenant('acme')
    evil = await host.app.tenant('evil')
  })
  afterEach(async () => {
    for (const one of receivers.splice(0)) await one.stop()
  })
  afterAll(async () => {
    await host?.stop()
    setDefaultCACertificates(trusted)
  })

  const start = async () => {
    const receiver = await startReceiver(undefined, { tls: { key, cert } })
    receivers.push(receiver)
    return receiver
  }
  const create = (client: JmapClient, url: string, more: object = {}) =>
    client.call('PushSubscription/set', { create: { a: { deviceClientId: 'd', url, ...more } } })

  /** Subscribes, and confirms with the code that the receiver got. */
  async function subscribe(client: JmapClient, receiver: Receiver, more: object = {}) {
    const { id } = (await create(client, receiver.url, more)).created.a
    const code = await waitFor(() => receiver.got.find(({ json }) => isFor(json, id)))
    const { verificationCode } = code.json
    const { updated } = await client.call('PushSubscription/set', {
      update: { [id]: { verificationCode } },
    })
    expect(updated).toHaveProperty(id)
    return id as string
  }
  const isFor = (message: Received['json'], id: string) =>
    message['@type'] === 'PushVerification' && message.pushSubscriptionId === id

  /** Makes a shared mailbox with the holder as a member and returns its id. */
  async function join(holder: JmapClient, name: string): Promise<string> {
    const made = await acme.post('/api/v1/shared-mailboxes', {
      email: `${name}@${acme.domain}`,
      name,
    })
    const { id } = made.body.data
    const member = { email_account_id: holder.accountId, permission: 'read_only' }
    const joined = await acme.post(`/api/v1/shared-mailboxes/${id}/members`, member)
    expect(joined.status).toBe(200)
    return id
  }

  const changesIn = (receiver: Receiver): Record<string, object>[] =>
    receiver.got
      .filter(({ json }) => json['@type'] === 'StateChange')
      .map(({ json }) => json.changed)

  it('tell a program of the first message that arrives after its confirmation', async () => {
    const jane = await jmapClient(host.app.base, acme.email)
    const { state } = await jane.call('Email/get', { ids: [] })
    const receiver = await start()
    await subscribe(jane, receiver, { types: ['Email', 'Mailbox'] })
    expect(changesIn(receiver)).toEqual([])
    expect((await host.receive(acme.email, 'news')).code).toBe(250)
    const [changed] = await waitFor(() => changesIn(receiver).length > 0 && changesIn(receiver))
    const states = changed?.[jane.accountId] as Record<string, string>
    expect(Object.keys(states).sort()).toEqual(['Email', 'Mailbox'])
    expect(Number(states.Email)).toBeGreaterThan(Number(state))
    const { created } = await jane.call('Email/changes', { sinceState: state })
    expect(created).toHaveLength(1)
  })

  it('do not wait for receivers of another tenant that never answer', async () => {
    const mallory = await jmapClient(host.app.base, evil.email)
    const jane = await jmapClient(host.app.base, acme.email)
    const hanging = await start()
    for (let at = 0; at < 3; at++) await subscribe(mallory, hanging)
    hanging.state.reply = () => {}
    const receiver = await start()
    await subscribe(jane, receiver)
    expect((await host.receive(evil.email, 'stuck')).code).toBe(250)
    await waitFor(() => hanging.state.open > 0)
    expect((await host.receive(acme.email, 'quick')).code).toBe(250)
    await waitFor(() => changesIn(receiver).length > 0)
    // One after the other, all requests of the other tenant would be over by now.
    expect(hanging.state.open).toBeGreaterThan(0)
  })

  it('are refused for a while when too many codes wait for receivers that never answer', async () => {
    const flood = await host.app.tenant('flood')
    const mallory = await jmapClient(host.app.base, flood.email)
    const hanging = await start()
    hanging.state.reply = () => {}
    const results = []
    for (let at = 0; at < 9; at++) results.push(await create(mallory, hanging.url))
    expect(results.filter(({ created }) => created?.a)).toHaveLength(8)
    expect(results[8].notCreated.a).toMatchObject({ type: 'rateLimit' })
    expect((await mallory.call('PushSubscription/get', { ids: null })).list).toHaveLength(8)
    // Subscriptions of others are confirmed meanwhile.
    await subscribe(await jmapClient(host.app.base, acme.email), await start())
  })

  it('tell a former member nothing of a shared mailbox', async () => {
    const jane = await jmapClient(host.app.base, acme.email)
    const email = `team@${acme.domain}`
    const team = await join(jane, 'team')
    const members = `/api/v1/shared-mailboxes/${team}/members`
    const receiver = await start()
    await subscribe(jane, receiver)
    expect((await host.receive(email, 'for members')).code).toBe(250)
    await waitFor(() => changesIn(receiver).some((changed) => team in changed))
    expect((await acme.delete(`${members}/${jane.accountId}`)).status).toBe(200)
    receiver.got.length = 0
    expect((await host.receive(email, 'for members only')).code).toBe(250)
    expect((await host.receive(acme.email, 'for jane')).code).toBe(250)
    await waitFor(() => changesIn(receiver).some((changed) => jane.accountId in changed))
    expect(changesIn(receiver).filter((changed) => team in changed)).toEqual([])
  })

  it('hear of a shared mailbox that the holder joined later', async () => {
    const jane = await jmapClient(host.app.base, acme.email)
    const receiver = await start()
    const id = await subscribe(jane, receiver)
    const team = await join(jane, 'later')
    await jane.call('PushSubscription/set', { update: { [id]: { types: null } } })
    expect((await host.receive(`later@${acme.domain}`, 'for members')).code).toBe(250)
    await waitFor(() => changesIn(receiver).some((changed) => team in changed))
  })

  it('hear of an account when pushing a change of another one failed', async () => {
    const jane = await jmapClient(host.app.base, acme.email)
    const team = await join(jane, 'broken')
    const receiver = await start()
    await subscribe(jane, receiver, { types: ['Email'] })
    const release: (() => void)[] = []
    receiver.state.reply = (_received, response) => release.push(() => response.end())
    expect((await host.receive(acme.email, 'first')).code).toBe(250)
    await waitFor(() => release.length === 1)
    const { state } = await jane.call('Email/get', { ids: [] })
    // Both accounts change while the receiver has not answered, and one of them has no state then.
    expect((await host.receive(`broken@${acme.domain}`, 'second')).code).toBe(250)
    await waitFor(async () => (await jane.call('Email/query', { accountId: team })).ids.length > 0)
    expect((await host.receive(acme.email, 'third')).code).toBe(250)
    await waitFor(async () => (await jane.call('Email/get', { ids: [] })).state !== state)
    await host.app.core.db.deleteFrom('jmap_accounts').where('id', '=', team).execute()
    receiver.state.reply = (_received, response) => response.end()
    release[0]?.()
    const isAboutHolder = (changed: object) => jane.accountId in changed
    await waitFor(() => changesIn(receiver).slice(1).some(isAboutHolder))
  })
})
