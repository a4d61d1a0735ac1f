import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { blocksOf, pages } from './documentation.ts'
import { orStop } from './or-stop.ts'
import { until } from './process.ts'

const PROGRAM = '/usr/sbin/haproxy'

/** The reason why haproxy is not available; empty when it is. */
export const haproxyMissing =
  spawnSync(PROGRAM, ['-v']).status === 0 ? '' : 'haproxy is not installed'

/** The backend that docs/growing.md shows. */
function documented(): string {
  const page = pages.find(({ path }) => path === 'docs/growing.md')
  const block = blocksOf(page?.text ?? '').find(({ language }) => language === 'haproxy')
  if (!block) throw new Error('docs/growing.md has no example for haproxy')
  return block.text
}

/** Runs the documented backend; only the ports of the servers differ. */
export async function startHaproxy(one: number, two: number) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-haproxy-'))
  const port = await freePort()
  const configuration = `
global
  maxconn 1000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend all
  bind 127.0.0.1:${port}
  default_backend mailplane
${documented().replace('127.0.0.1:5001', `127.0.0.1:${one}`).replace('127.0.0.1:5002', `127.0.0.1:${two}`)}
`
  writeFileSync(join(folder, 'haproxy.cfg'), configuration)
  const child = spawn(PROGRAM, ['-db', '-f', join(folder, 'haproxy.cfg')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  const ended = once(child, 'close')
  const base = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const isReady = until(async () => {
    if (child.exitCode !== null) throw new Error(`haproxy does not start: ${output}`)
    return fetch(`${base}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
  })
  await orStop(isReady, stop)
  return { base, port, stop }
}
