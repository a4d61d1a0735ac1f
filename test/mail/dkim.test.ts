import { readdirSync, rmSync, statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`signing${skipped}`, () => {
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

  /** A domain of acme with a key, and a credential to send from it. */
  async function domainOf(name: string, more: object = {}) {
    const { body } = await acme.post('/api/v1/domains/', { domain: name, ...more })
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: body.data.id })
    return { ...body.data, ...made.body.data, id: body.data.id as string, domain: name }
  }

  type Sender = { username: string; secret: string; domain: string }

  /** Sends to the outside, and what arrives there. */
  async function sent({ username, secret, domain }: Sender, headerFrom = `app@${domain}`) {
    const to = `reader-${++counter}@outside.test`
    const client = await host.submission()
    await client.auth(username, secret)
    const text = message(headerFrom, to, `signed ${counter}`, 'Some  text.\n\n.dots\n\n\n')
    expect((await client.send({ from: `app@${domain}`, to, text })).code).toBe(250)
    client.quit()
    return (await waitFor(() => host.sink.to(to)[0])).data
  }

  const recordOf = async (id: string, selector: string) => {
    const { body } = await owner.get(`/api/v1/domains/${id}/dkim`)
    return body.data.items.find((key: { selector: string }) => key.selector === selector)
      .record_value as string
  }

  it('is verifiable with the published record, and not with another one', async () => {
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

  it('follows a rotation without a restart of anything', async () => {
    const shop = await domainOf('rotating.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    const pids = host.pids()
    const dkim = `/api/v1/domains/${shop.id}/dkim`
    const rotated = await owner.post(`${dkim}/rotate`, { reason: 'test' })
    const { selector, record_value: record } = rotated.body.data
    expect(rotated.body.data).toMatchObject({ active: false, rspamd_synced: true })
    // Not before it is told to.
    expect(signatureOf(await sent(shop))?.selector).toBe('default')
    const activated = await owner.post(`${dkim}/${selector}/activate`, {
      reason: 'test',
      force: true,
    })
    expect(activated.body.data).toMatchObject({ active_selector: selector, rspamd_synced: true })
    const mail = await waitFor(async () => {
      const data = await sent(shop)
      // In between it is signed as before, never not at all.
      expect(signatureOf(data)).toBeDefined()
      return signatureOf(data)?.selector === selector && data
    })
    expect(verifies(mail, record)).toBe(true)
    expect(host.pids()).toEqual(pids)
  })

  it('is not done with the key of another tenant, whatever the From header says', async () => {
    const shop = await domainOf('mine.test')
    const globex = await host.app.tenant('globex')
    await globex.post('/api/v1/domains/', { domain: 'theirs.test' })
    await waitFor(async () => signatureOf(await sent(shop)))
    const mail = await sent(shop, 'ceo@theirs.test')
    expect(mail).toContain('From: <ceo@theirs.test>')
    expect(signatureOf(mail)).toBeUndefined()
  })

  it('is not done for a domain that has it turned off, nor for mail that only passes through', async () => {
    const quiet = await domainOf('quiet.test', { dkim_enabled: false })
    expect(signatureOf(await sent(quiet))).toBeUndefined()
    const shop = await domainOf('passing.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    const to = 'friend@outside.test'
    await acme.post('/api/v1/aliases/add', { source: 'away@passing.test', destination: to })
    // Somebody from outside who says to be from here.
    const mx = await openSmtp({ port: host.ports.smtp })
    const from = 'app@passing.test'
    const text = message(from, 'away@passing.test', 'passed on')
    expect((await mx.send({ from, to: 'away@passing.test', text })).code).toBe(250)
    mx.quit()
    const passed = await waitFor(() => host.sink.to(to)[0])
    expect(signatureOf(passed.data)).toBeUndefined()
  })

  it('keeps keys where only Rspamd reads them, and none of a domain that is gone', async () => {
    const shop = await domainOf('gone.test')
    const all = `${host.edge.settings.folders.dkim}/keys`
    const folder = `${all}/gone.test`
    const names = await waitFor(() => {
      try {
        return readdirSync(folder)
      } catch {
        return undefined
      }
    })
    expect(names).toEqual(['default.key'])
    const { mode, uid } = statSync(`${folder}/default.key`)
    expect(mode & 0o777).toBe(0o600)
    expect(uid).toBe(statSync(host.edge.settings.folders.dkim).uid)
    await acme.delete(`/api/v1/domains/${shop.id}`)
    await waitFor(() => !readdirSync(all).includes('gone.test'))
  })

  it('catches up with what happened while nobody listened', async () => {
    const shop = await domainOf('missed.test')
    await waitFor(async () => signatureOf(await sent(shop)))
    await host.down()
    rmSync(`${host.edge.settings.folders.dkim}/keys`, { recursive: true })
    rmSync(`${host.edge.settings.folders.dkim}/selectors.map`)
    await host.up()
    await waitFor(async () => signatureOf(await sent(shop)))
  })
})
