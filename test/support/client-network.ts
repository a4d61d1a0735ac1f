import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDnsServer } from './dns-server.ts'

const SYSTEM_ROOTS = '/etc/ssl/certs/ca-certificates.crt'

export type ClientNetwork = Awaited<ReturnType<typeof startClientNetwork>>

/** The reason that programs cannot have names and ports of their own here, if there is one. */
export const clientNetworkMissing =
  process.getuid?.() !== 0
    ? 'ports below 1024 need root'
    : spawnSync('unshare', ['--mount', 'true']).status !== 0
      ? 'unshare --mount is not permitted'
      : undefined

/**
 * A loopback address of its own with DNS on port 53 and the ports of the web, which lead to an app. The
 * programs run in a mount namespace whose resolv.conf names only this DNS server and whose roots are the
 * one of the tests, so nothing leaves the machine and nothing on it changes.
 */
export async function startClientNetwork(names: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-clients-'))
  const host = await freeAddress()
  const dns = await startDnsServer({}, { host, port: 53 })
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${host}\n`)
  const certificate = makeChain(folder, names)
  let upstream = ''
  const requests: string[] = []
  const relay: http.RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`)
    const { method = 'GET', url = '/', headers } = request
    const onward = http.request(new URL(url, upstream), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }
  const servers = [
    http.createServer(relay),
    https.createServer({ key: certificate.key, cert: certificate.chain }, relay),
  ]
  for (const [index, server] of servers.entries()) {
    await new Promise<void>((resolve) => server.listen(index === 0 ? 80 : 443, host, resolve))
  }

  return {
    host,
    dns,
    folder,
    certificate,
    /** The requests of the programs, as `METHOD host/path`. */
    requests,
    leadTo(base: string) {
      upstream = base
    },
    /** Runs a program that sees this network only; resolves with everything that it printed. */
    run: (program: string, args: string[], env: Record<string, string> = {}) =>
      startIn(folder, program, args, env).ended,
    /** The same for a program that runs until it is stopped. */
    start: (program: string, args: string[]) => startIn(folder, program, args, {}),
    async stop() {
      for (const server of servers) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
      await dns.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `unshare` and the shell replace themselves by the program, so `kill` reaches it. */
function startIn(folder: string, program: string, args: string[], env: Record<string, string>) {
  const bind = [
    `mount --bind ${join(folder, 'resolv.conf')} /etc/resolv.conf`,
    // dirmngr knows no other place.
    `if [ -e ${SYSTEM_ROOTS} ]; then mount --bind ${join(folder, 'ca.crt')} ${SYSTEM_ROOTS}; fi`,
    'exec "$0" "$@"',
  ].join(' && ')
  const options = { env: { PATH: process.env.PATH, HOME: folder, ...env }, maxBuffer: 1 << 24 }
  let finish = (_output: { status: number; output: string }) => {}
  const ended = new Promise<Parameters<typeof finish>[0]>((resolve) => {
    finish = resolve
  })
  const command = ['--mount', 'sh', '-c', bind, program, ...args]
  const child = execFile('unshare', command, options, (error, stdout, stderr) =>
    finish({ status: Number(error?.code ?? 0), output: stdout + stderr }),
  )
  child.stdin?.end()
  return { ended, kill: () => child.kill('SIGKILL') }
}

/** Tests that run at the same time get different addresses. */
async function freeAddress(): Promise<string> {
  for (;;) {
    const number = () => 1 + Math.floor(Math.random() * 250)
    const host = `127.${number()}.${number()}.${number()}`
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(443, host, () => resolve(true))
    })
    await new Promise((resolve) => probe.close(resolve))
    if (isFree) return host
  }
}

/** A CA and a certificate of it for these names. */
function makeChain(folder: string, names: string[]) {
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
  }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    ...['req', '-x509', ...newKey, '-subj', '/CN=Root of the tests', '-days', '30'],
    ...['-keyout', file('ca.key'), '-out', file('ca.crt')],
  )
  openssl(
    ...['req', ...newKey, '-subj', `/CN=${names[0]}`],
    ...['-keyout', file('host.key'), '-out', file('host.csr')],
  )
  writeFileSync(file('names'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`)
  openssl(
    ...['x509', '-req', '-in', file('host.csr'), '-CA', file('ca.crt'), '-CAkey', file('ca.key')],
    ...['-CAcreateserial', '-days', '30', '-extfile', file('names'), '-out', file('host.crt')],
  )
  const read = (name: string) => readFileSync(file(name), 'utf8')
  return {
    caFile: file('ca.crt'),
    ca: read('ca.crt'),
    key: read('host.key'),
    chain: read('host.crt') + read('ca.crt'),
  }
}
