import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handOver } from '../../src/mail/handover.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`DKIM signing${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let owner: Awaited<ReturnType<MailHost['app']['operator']>>
  let counter = 0
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    owner = await host.app.operator('owner')
  })
  afterAll(() => host.stop())

  /** Creates a domain of acme with a key, and a credential to send from it. */
  async function domainOf(name: string, more: object = {}) {
    const domain = await host.app.hostedDomain(acme, { domain: name, ...more })
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: domain.id })
    return { ...domain, ...made.body.data, id: domain.id as string, domain: name }
  }

  type Sender = { username: string; secret: string; domain: string }

  /** Sends a message to an outside recipient and returns it as received. */
  async function sent({ username, secret, domain }: Sender) {
    const to = `reader-${++counter}@outside.test`
    const client = await host.submission()
    await client.auth(username, secret)
    const text = message(`app@${domain}`, to, `signed ${counter}`, 'Some  text.\n\n.dots\n\n\n')
    expect((await client.send({ from: `app@${domain}`, to, text })).text).toMatch(/^250 /)
    client.quit()
    return (await waitFor(() => host.sink.to(to)[0])).data
  }

  const recordOf = async (id: string, selector: string) => {
    const { body } = await owner.get(`/api/v1/domains/${id}/dkim`)
    return body.data.items.find((key: { selector: string }) => key.selector === selector)
      .record_value as string
  }

  it('is verifiable with the published record and not with another one', async () => {
    const shop = await domainOf('shop.test')
    const other = await domainOf('other.test')
    const mail = await waitFor(async () => {
      const data = await sent(shop)
      return signatureOf(data) && data
    })
    expect(signatureOf(mail)).toMatchObject({ domain: 'shop.test', selector: 'default' })
    expect(signatureOf(mail)?.headers).toEqual(expect.arrayContaining(['from', 'subject', 'to']))
    expect(verifies(mail, await recordOf(shop.id, 'default'))).toBe(true)
    expect(verifies(mail, await recordOf(other.id, 'default'))).toBe(false)
    expect(verifies(mail.replace('Some', 'Any'), await recordOf(shop.id, 'default'))).toBe(false)
  })

  it('uses the new key after a rotation without a restart', async () => {
    const shop = await domainOf('rotating.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    const pids = host.pids()
    const dkim = `/api/v1/domains/${shop.id}/dkim`
    const rotated = await owner.post(`${dkim}/rotate`, { reason: 'test' })
    const { selector, record_value: record } = rotated.body.data
    expect(rotated.body.data).toMatchObject({ active: false, rspamd_synced: true })
    // The rotation has not been requested yet.
    expect(signatureOf(await sent(shop))?.selector).toBe('default')
    const activated = await owner.post(`${dkim}/${selector}/activate`, {
      reason: 'test',
      force: true,
    })
    expect(activated.body.data).toMatchObject({ active_selector: selector, rspamd_synced: true })
    const mail = await waitFor(async () => {
      const data = await sent(shop)
      // Until then messages are signed with the old key, never unsigned.
      expect(signatureOf(data)).toBeDefined()
      return signatureOf(data)?.selector === selector && data
    })
    expect(verifies(mail, record)).toBe(true)
    expect(host.pids()).toEqual(pids)
  })

  it('never uses the key of another tenant, whatever the From header says', async () => {
    const shop = await domainOf('mine.test')
    const globex = await host.app.tenant('globex')
    await host.app.hostedDomain(globex, { domain: 'theirs.test' })
    await waitFor(async () => signatureOf(await sent(shop)))
    // The content filter refuses such mail, so it is handed to the listener that signs.
    const to = 'forged@outside.test'
    const text = message('ceo@theirs.test', to, 'forged').replaceAll('\n', '\r\n')
    const { accepted } = await handOver(host.app.core.mailServers)({
      sender: 'app@mine.test',
      parameters: [],
      recipients: [{ address: to, parameters: [] }],
      login: shop.username,
      client: {},
      content: Buffer.from(text),
    })
    expect(accepted).toBe(true)
    const mail = (await waitFor(() => host.sink.to(to)[0])).data
    expect(mail).toContain('From: <ceo@theirs.test>')
    expect(signatureOf(mail)).toBeUndefined()
  })

  it('is skipped for a domain with DKIM disabled and for relayed mail', async () => {
    const quiet = await domainOf('quiet.test', { dkim_enabled: false })
    expect(signatureOf(await sent(quiet))).toBeUndefined()
    const shop = await domainOf('passing.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    const to = 'friend@outside.test'
    await acme.post('/api/v1/aliases/add', { source: 'away@passing.test', destination: to })
    // An outside sender that claims a local From address.
    const mx = await openSmtp({ port: host.ports.smtp })
    const from = 'app@passing.test'
    const text = message(from, 'away@passing.test', 'passed on')
    expect((await mx.send({ from, to: 'away@passing.test', text })).code).toBe(250)
    mx.quit()
    const passed = await waitFor(() => host.sink.to(to)[0])
    expect(signatureOf(passed.data)).toBeUndefined()
  })

  it('stores keys readable only by Rspamd and removes those of a deleted domain', async () => {
    const shop = await domainOf('gone.test')
    const all = `${host.edge.settings.folders.dkim}/keys`
    const folder = `${all}/gone.test`
    // A key is written under a temporary name first.
    await waitFor(() => existsSync(`${folder}/default.key`))
    expect(readdirSync(folder)).toEqual(['default.key'])
    const { mode, uid } = statSync(`${folder}/default.key`)
    expect(mode & 0o777).toBe(0o600)
    expect(uid).toBe(statSync(host.edge.settings.folders.dkim).uid)
    await acme.delete(`/api/v1/domains/${shop.id}`)
    await waitFor(() => !readdirSync(all).includes('gone.test'))
  })

  it('restores missing key files after a restart', async () => {
    const shop = await domainOf('missed.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    await host.down()
    rmSync(`${host.edge.settings.folders.dkim}/keys`, { recursive: true })
    rmSync(`${host.edge.settings.folders.dkim}/selectors.map`)
    await host.up()
    await waitFor(async () => signatureOf(await sent(shop)))
  })
})
