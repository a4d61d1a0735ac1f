import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newIp, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { BROWSER } from '../support/tracked.ts'
import { waitFor } from '../support/wait.ts'

const API = '/api/v1/url-protection'
const BASE = 'https://mail.links.test'
const TARGET = 'https://shop.example/offer?id=7&x=%C3%BC#top'

/** A text part and an HTML part, as mail programs send them. */
const letter = (to: string, subject: string) =>
  [
    message('ada@far.test', to, subject, '').trimEnd(),
    'MIME-Version: 1.0',
    'DKIM-Signature: v=1; a=rsa-sha256; d=far.test; s=x; h=from; bh=x; b=x',
    'Content-Type: multipart/alternative; boundary=half',
    '',
    '--half',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `An offer: ${TARGET}.`,
    '--half',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    `<a href=3D"${TARGET.replace('&', '&amp;').replaceAll('=', '=3D')}">an offer</a>`,
    '--half--',
    '',
  ].join('\n')

describe.skipIf(edgeMissing)(`links of delivered mail${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  beforeAll(async () => {
    host = await startMailHost({ env: { SVC_PUBLIC_URL: BASE } })
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    expect((await acme.put(`${API}/settings`, { enabled: true })).status).toBe(200)
  })
  afterAll(() => host.stop())

  const receive = async (subject: string, ...to: string[]) => {
    const client = await openSmtp({ port: host.ports.smtp })
    const reply = await client.send({
      from: 'ada@far.test',
      to,
      text: letter(to[0] ?? '', subject),
    })
    client.quit()
    return reply
  }
  const inbox = (user: string, subject: string) =>
    waitFor(async () =>
      (await mailIn(host.ports.imaps, user, PASSWORD)).find((text) => text.includes(subject)),
    )

  it('lead over the check for the tenant that asks for it, and back to their address by a click', async () => {
    expect((await receive('offer', acme.email, globex.email)).code).toBe(250)
    const text = (await inbox(acme.email, 'offer')).replaceAll('=\r\n', '')
    expect(text).not.toContain('shop.example')
    const paths = [...text.matchAll(/https:\/\/mail\.links\.test(\/safe\/[\w/-]+)/g)].map(
      ([, path]) => path as string,
    )
    expect(paths).toHaveLength(2)
    expect(text).toMatch(/An offer: https:\/\/mail\.links\.test\/safe\/\S+\.\r\n/)
    for (const path of paths) {
      const click = await host.app.send('GET', path, {
        from: newIp(),
        headers: { 'user-agent': BROWSER },
      })
      expect(click).toMatchObject({ status: 302, headers: { location: TARGET } })
    }
    const { body } = await waitFor(async () => {
      const clicks = await acme.get(`${API}/clicks`)
      return clicks.body.data.items.length === 2 && clicks
    })
    expect(body.data.items[0]).toMatchObject({ url: TARGET, scan_result: 'safe' })
    // The other tenant of the same message has its own copy, as it was sent.
    const theirs = await inbox(globex.email, 'offer')
    expect(theirs).toContain(`An offer: ${TARGET}.`)
    expect((await globex.get(`${API}/clicks`)).body.data.items).toEqual([])
  })

  it('are blocked after the delivery, when the address is listed by then', async () => {
    await receive('later', acme.email)
    const text = (await inbox(acme.email, 'later')).replaceAll('=\r\n', '')
    const path = /mail\.links\.test(\/safe\/[\w/-]+)/.exec(text)?.[1] ?? ''
    await acme.post(`${API}/blocklist`, { entry_type: 'domain', entry: 'shop.example' })
    const click = await host.app.send('GET', path, { headers: { 'user-agent': BROWSER } })
    expect(click.status).toBe(403)
  })
})
