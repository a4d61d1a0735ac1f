import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import type { Started } from '../servers.ts'
import { listening } from './listening.ts'

const MODULES = 'usr/lib/python3/dist-packages'
// The Python of Debian, which its packages are made for.
const PYTHON = '/usr/bin/python3'

/** The reason why Radicale cannot be measured; undefined when it can. */
export function radicaleMissing(root: string | undefined): string | undefined {
  if (root === undefined) return 'give the folder of its unpacked packages with --root'
  if (!existsSync(PYTHON)) return `there is no ${PYTHON}`
  return existsSync(join(root, MODULES, 'radicale')) ? undefined : `${root} has no python3-radicale`
}

/** Radicale out of unpacked packages, with every user allowed. */
export async function startRadicale(root: string, folder: string, started: Started[]) {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const config = join(folder, 'config')
  writeFileSync(
    config,
    `[server]
hosts = 127.0.0.1:${port}
[auth]
type = none
[storage]
filesystem_folder = ${join(folder, 'collections')}
[web]
type = none
`,
  )
  const child = spawn(PYTHON, ['-m', 'radicale', '--config', config], {
    env: { PATH: process.env.PATH, PYTHONPATH: join(root, MODULES) },
    stdio: 'ignore',
  })
  const base = `http://127.0.0.1:${port}`
  started.push({ child, url: base, port })
  await listening('Radicale', port)
  return { base, pid: child.pid as number }
}
