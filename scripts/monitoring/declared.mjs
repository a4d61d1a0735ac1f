// The metrics that a server with all services declares, from its own pages.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare, root } from '../prepare.mjs'

const PORTS = [
  'PORT',
  'POLICY_RATE_PORT',
  'POLICY_ACCESS_PORT',
  'AUTH_POLICY_PORT',
  'CONTENT_FILTER_PORT',
]

export async function declaredMetrics() {
  await prepare()
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-metrics-'))
  const server = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'serve'], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: join(folder, 'data'),
      SVC_USER: 'root',
      ...Object.fromEntries(PORTS.map((name) => [name, '0'])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => server.once('close', resolve))
  try {
    const base = await addressOf(server)
    const pages = ['/metrics', '/metrics/prometheus'].map(async (path) =>
      (await fetch(`${base}${path}`)).text(),
    )
    return familiesOf((await Promise.all(pages)).join('\n'))
  } finally {
    server.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

function addressOf(server) {
  return new Promise((resolve, reject) => {
    let output = ''
    const keep = (text) => {
      output += text
      const base = /ready at (http:\S+)/.exec(output)?.[1]
      if (base) resolve(base)
    }
    server.stdout.setEncoding('utf8').on('data', keep)
    server.stderr.setEncoding('utf8').on('data', keep)
    server.once('close', () => reject(new Error(`the server did not start: ${output}`)))
  })
}

/** By name; a metric of a service that is down is there only while it is down. */
function familiesOf(text) {
  const families = new Map()
  for (const [, name, help] of text.matchAll(/^# HELP (\S+) (.*)$/gm)) {
    if (name !== 'monitoring_service_up' && name.endsWith('_service_up')) continue
    const type = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1]
    families.set(name, { name, help, type })
  }
  return [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
