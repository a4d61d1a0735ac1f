import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, isFree } from '../../src/lib/free-port.ts'
import { makeCertificate } from './certificates.ts'
import { blocksOf, pages } from './documentation.ts'
import { orStop } from './or-stop.ts'
import { waitFor } from './wait.ts'

export const NAME = 'mail.example.com'
const PROGRAMS = { nginx: '/usr/sbin/nginx', caddy: '/usr/bin/caddy' }
const LANGUAGES = { nginx: 'nginx', caddy: 'caddyfile' }
export type ProxyName = keyof typeof PROGRAMS

/** The reason why the proxy is not available; undefined when it is. */
export const proxyMissing = (name: ProxyName): string | undefined =>
  existsSync(PROGRAMS[name]) ? undefined : `${name} is not installed`

/** The configuration that docs/reverse-proxy.md shows. */
function documented(name: ProxyName): string {
  const page = pages.find(({ path }) => path === 'docs/reverse-proxy.md')
  const block = blocksOf(page?.text ?? '').find(({ language }) => language === LANGUAGES[name])
  if (!block) throw new Error(`docs/reverse-proxy.md has no example for ${name}`)
  return block.text
}

export type RunningProxy = Awaited<ReturnType<typeof startProxy>>

/** Runs the documented example; only ports, the upstream and the place of the certificate differ. */
export async function startProxy(name: ProxyName, upstreamPort: number) {
  const folder = mkdtempSync(join(tmpdir(), `mailplane-${name}-`))
  const { key, ...made } = makeCertificate(NAME)
  // OpenSSL refuses the empty line of a certificate whose last line is full.
  const certificate = made.certificate.replaceAll('\n\n', '\n')
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  writeFileSync(certFile, certificate)
  writeFileSync(keyFile, key, { mode: 0o600 })
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const site = documented(name)
    .replaceAll('127.0.0.1:5000', `127.0.0.1:${upstreamPort}`)
    .replace('/etc/ssl/mailplane/fullchain.pem', certFile)
    .replace('/etc/ssl/mailplane/privkey.pem', keyFile)
  const args =
    name === 'nginx'
      ? nginxArguments(folder, site, httpPort, httpsPort)
      : caddyArguments(folder, site, httpPort, httpsPort)
  const child = spawn(PROGRAMS[name], args, {
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const isReady = waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${output}`)
    return !(await isFree(httpsPort)) && !(await isFree(httpPort))
  })
  await orStop(isReady, stop)

  return {
    httpBase: `http://127.0.0.1:${httpPort}`,
    /** Sends a request over TLS, from a loopback address, and verifies the certificate. */
    send: (method: string, path: string, more: Sent = {}) =>
      sendOverTls({ port: httpsPort, ca: certificate }, method, path, more),
    stop,
  }
}

function nginxArguments(folder: string, site: string, httpPort: number, httpsPort: number) {
  const adapted = site
    .replace(/^\s*listen \[::\].*\n/gm, '')
    .replace('listen 80 default_server', `listen 127.0.0.1:${httpPort} default_server`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${httpsPort} ssl`)
  mkdirSync(join(folder, 'temporary'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/temporary/${kind};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `${user}
daemon off;
pid ${folder}/nginx.pid;
events {}
http {
${paths.join('\n')}
access_log off;
${adapted}}
`,
  )
  return ['-p', folder, '-c', file, '-e', 'stderr']
}

function caddyArguments(folder: string, site: string, httpPort: number, httpsPort: number) {
  const file = join(folder, 'Caddyfile')
  writeFileSync(
    file,
    `{
	admin off
	default_bind 127.0.0.1
	http_port ${httpPort}
	https_port ${httpsPort}
}
${site}`,
  )
  return ['run', '--config', file, '--adapter', 'caddyfile']
}

interface Sent {
  headers?: Record<string, string>
  body?: string
  /** The loopback IP address of the client. */
  from?: string
}

function sendOverTls(
  { port, ca }: { port: number; ca: string },
  method: string,
  path: string,
  { headers = {}, body, from = '127.0.0.1' }: Sent,
): Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        ca,
        servername: NAME,
        agent: false,
        localAddress: from,
        headers: {
          host: NAME,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
