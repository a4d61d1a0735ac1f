import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encryption } from '../../src/daemons/encryption.ts'
import { type App, startApp } from '../support/app.ts'
import {
  type ClientNetwork,
  clientNetworkMissing,
  startClientNetwork,
} from '../support/client-network.ts'
import { gpgMissing } from '../support/gpg.ts'

const PASSPHRASE = 'correct horse battery'
// One domain has the host of the advanced method, the other one only its own name.
const NAMES = ['openpgpkey.acme.test', 'acme.test', 'globex.test']
const noDirmngr = existsSync('/usr/bin/dirmngr') ? undefined : 'dirmngr is not installed'
const missing = clientNetworkMissing ?? gpgMissing ?? noDirmngr
const why = missing === undefined ? '' : ` (skipped: ${missing})`

describe.skipIf(missing)(`gpg --locate-external-keys${why}`, () => {
  let network: ClientNetwork
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let globex: typeof acme
  let home: string
  beforeAll(async () => {
    network = await startClientNetwork(NAMES)
    app = await startApp({ daemons: [encryption] })
    network.leadTo(app.base)
    acme = await app.tenant('acme')
    globex = await app.tenant('globex')
    const here = { A: [network.host] }
    network.dns.state.records = Object.fromEntries(NAMES.map((name) => [name, here]))
    home = join(network.folder, 'gnupg')
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(join(home, 'dirmngr.conf'), 'disable-ipv6\n')
  })
  afterAll(async () => {
    await gpgconf()
    await app?.stop()
    await network?.stop()
  })

  /** The processes that gpg leaves behind belong to its folder. */
  const gpgconf = () => network.run('gpgconf', ['--homedir', home, '--kill', 'all'])

  /** dirmngr reads the certificates of the system. */
  const locate = (email: string) =>
    network.run('gpg', [
      ...['--homedir', home, '--batch', '--no-auto-key-locate', '--auto-key-locate', 'clear,wkd'],
      ...['--with-colons', '--locate-external-keys', email],
    ])

  async function newKey(tenant: typeof acme): Promise<string> {
    const sent = { email: tenant.email, passphrase: PASSPHRASE }
    const { status, body } = await tenant.post('/api/v1/encryption/pgp/generate', sent)
    expect(status).toBe(201)
    return body.data.fingerprint
  }

  it('finds the key of a mailbox by the advanced and by the direct method', async () => {
    for (const [tenant, path] of [
      [acme, 'GET openpgpkey.acme.test/.well-known/openpgpkey/acme.test/hu/'],
      [globex, 'GET globex.test/.well-known/openpgpkey/hu/'],
    ] as const) {
      const fingerprint = await newKey(tenant)
      const { status, output } = await locate(tenant.email)
      expect(status, output).toBe(0)
      expect(output).toContain(fingerprint)
      expect(output).toContain(tenant.email)
      expect(network.requests.some((one) => one.startsWith(path))).toBe(true)
    }
  })

  it('finds no key of an address without one', async () => {
    const { status, output } = await locate('nobody@acme.test')
    expect(status).not.toBe(0)
    expect(output).not.toMatch(/^pub:/m)
  })
})
