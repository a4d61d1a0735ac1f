import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import {
  type ClientNetwork,
  clientNetworkMissing,
  startClientNetwork,
} from '../support/client-network.ts'
import { inThunderbird } from '../support/thunderbird.ts'

const HOST = 'mail.host.test'
const WEB = 'panel.host.test'
const ADDRESS = 'jane@acme.test'
const NAMES = [HOST, WEB, 'acme.test', 'mta-sts.acme.test', 'autoconfig.acme.test']

const missing = (program: string) =>
  existsSync(program) ? undefined : `${program} is not installed`
const why = (reason: string | undefined) => (reason === undefined ? '' : ` (skipped: ${reason})`)
const noResolver = missing('/usr/bin/mta-sts-query')
const noThunderbird = missing('/usr/bin/thunderbird')

describe.skipIf(clientNetworkMissing)(`mail programs${why(clientNetworkMissing)}`, () => {
  let network: ClientNetwork
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  const ownRoots = https.globalAgent.options.ca
  beforeAll(async () => {
    network = await startClientNetwork(NAMES)
    const { ca, chain, key } = network.certificate
    https.globalAgent.options.ca = ca
    const certificates = join(network.folder, 'certificates')
    mkdirSync(certificates)
    writeFileSync(join(certificates, `${HOST}.pem`), key + chain)
    app = await startApp({
      env: {
        SVC_MAIL_HOSTNAME: HOST,
        SVC_PUBLIC_URL: `https://${WEB}`,
        SVC_CERTIFICATE_DIR: certificates,
        SVC_DNS_SERVERS: network.dns.address,
        SVC_OUTBOUND_ALLOW: '127.0.0.0/8',
      },
    })
    network.leadTo(app.base)
    acme = await app.tenant('acme')
    // Reads the files of certificates.
    await (await app.operator('support')).get('/api/v1/ssl/certificates')
    const here = { A: [network.host] }
    network.dns.state.records = {
      ...Object.fromEntries(NAMES.map((name) => [name, here])),
      'acme.test': { ...here, MX: [HOST] },
      '_mta-sts.acme.test': { TXT: [`v=STSv1; id=${(await policy()).policy_id};`] },
    }
  })
  afterAll(async () => {
    https.globalAgent.options.ca = ownRoots
    await app?.stop()
    await network?.stop()
  })

  const policy = async () => (await acme.get(`/api/v1/domains/${acme.domainId}/mta-sts`)).body.data
  const openssl = (args: string[], input: Buffer | string = '') => {
    const { status, stdout, stderr } = spawnSync('openssl', args, { input })
    return { status, stdout, text: stdout.toString() + stderr.toString() }
  }

  it('find a profile that openssl verifies and Python reads, with calendars and contacts', async () => {
    const at = app.clock.now().toISOString()
    const beat = { instance: 'one', name: 'caldav', host: 'x', address: 'http://x' }
    await app.core.db
      .insertInto('daemon_heartbeats')
      .values({ ...beat, started_at: at, seen_at: at })
      .execute()
    const answer = await fetch(`${app.base}/apple/${ADDRESS}.mobileconfig`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    await app.core.db.deleteFrom('daemon_heartbeats').execute()
    const verify = ['smime', '-verify', '-inform', 'DER', '-purpose', 'any']
    const verified = openssl([...verify, '-CAfile', network.certificate.caFile], bytes)
    expect(verified.text).toContain('Verification successful')
    const read = spawnSync(
      'python3',
      [
        '-c',
        "import plistlib,sys;print([c['PayloadType'] for c in plistlib.loads(sys.stdin.buffer.read())['PayloadContent']])",
      ],
      { input: verified.stdout },
    )
    expect(read.stdout.toString().trim()).toBe(
      "['com.apple.mail.managed', 'com.apple.caldav.account', 'com.apple.carddav.account']",
    )
    const at50 = bytes.indexOf('jane@')
    const changed = Buffer.concat([
      bytes.subarray(0, at50),
      Buffer.from('joan'),
      bytes.subarray(at50 + 4),
    ])
    const refused = openssl([...verify, '-CAfile', network.certificate.caFile], changed)
    expect(refused.status).not.toBe(0)
  })

  it('verify the mail host by the advised TLSA record, and refuse another one', async () => {
    const path = `/api/v1/domains/${acme.domainId}/dns-records`
    const [record] = (await acme.get(path)).body.data.host_records as { value: string }[]
    // The server of this test runs in this process, so openssl must not block it.
    const connect = (rrdata: string) =>
      network.run('openssl', [
        ...['s_client', '-connect', `${network.host}:443`, '-dane_tlsa_domain', HOST],
        ...['-dane_tlsa_rrdata', rrdata, '-verify_return_error', '-brief'],
      ])
    const good = await connect(record?.value as string)
    expect(good.output).toContain('Verification: OK')
    const bad = await connect(`3 1 1 ${'0'.repeat(64)}`)
    expect(bad.output).not.toContain('Verification: OK')
  })

  it('enforce MTA-STS only when all is right', async () => {
    const put = (mode: string) => acme.put(`/api/v1/domains/${acme.domainId}/mta-sts`, { mode })
    const { records } = network.dns.state
    network.dns.state.records = { ...records, 'acme.test': { MX: ['other.test'] } }
    expect((await put('enforce')).status).toBe(409)
    network.dns.state.records = records
    expect(await put('enforce')).toMatchObject({
      status: 200,
      body: { data: { mode: 'enforce', served_mode: 'enforce', problems: [] } },
    })
    expect(network.requests).toContain('GET mta-sts.acme.test/.well-known/mta-sts.txt')
  })

  it.skipIf(noResolver)(`read the policy as valid: mta-sts-query${why(noResolver)}`, async () => {
    const query = (domain: string) =>
      network.run('/usr/bin/mta-sts-query', [domain], { SSL_CERT_FILE: network.certificate.caFile })
    expect((await query('acme.test')).output).toMatch(/VALID.*mode.*enforce/s)
    expect((await query('other.test')).output).not.toContain('VALID')
  })

  it.skipIf(noThunderbird)(`set themselves up: Thunderbird${why(noThunderbird)}`, async () => {
    const found = await inThunderbird(
      network,
      `const { FetchConfig } = ChromeUtils.importESModule(
        'resource:///modules/accountcreation/FetchConfig.sys.mjs');
      const show = ({ hostname, port, username }) => ({ hostname, port, username });
      const answer = (config) => done({
        incoming: [config.incoming, ...config.incomingAlternatives].map(show),
        outgoing: show(config.outgoing),
      });
      const failed = (error) => done(String(error));
      // Up to version 140 it takes callbacks in place of a signal.
      if (FetchConfig.fromISP.length > 3) FetchConfig.fromISP('acme.test', '${ADDRESS}', answer, failed);
      else FetchConfig.fromISP('acme.test', '${ADDRESS}', new AbortController().signal).then(answer, failed);`,
    )
    const username = '%EMAILADDRESS%'
    expect(found).toEqual({
      incoming: [
        { hostname: HOST, port: 993, username },
        { hostname: HOST, port: 995, username },
      ],
      outgoing: { hostname: HOST, port: 465, username },
    })
  })
})
