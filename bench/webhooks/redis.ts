import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/lib/free-port.ts'
import type { Started } from '../servers.ts'

export const BULLMQ = '6.7.0'
const IOREDIS = '5.11.1'
const REDIS = '/usr/bin/redis-server'
const START_MS = 10_000

/** Installs BullMQ and Redis. Returns what is missing, or undefined when both are available. */
export function prepareBullMq(folder: string): string | undefined {
  if (!existsSync(REDIS)) installRedis()
  if (!existsSync(REDIS)) return 'as root run: apt-get install redis-server'
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  const packages = [`bullmq@${BULLMQ}`, `ioredis@${IOREDIS}`]
  const { status } = spawnSync('npm', ['install', ...options, ...packages], {
    stdio: ['ignore', 'ignore', 2],
  })
  return status === 0 ? undefined : `npm could not install ${packages.join(' and ')}`
}

function installRedis(): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  // No service may start by itself: the benchmark runs a private Redis.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], { env, stdio: ['ignore', 'ignore', 2] }).status
  const install = () => apt('install', '--no-install-recommends', '-y', 'redis-server')
  if (install() !== 0) {
    apt('update')
    install()
  }
}

/** Starts Redis with an append-only file and the given fsync policy. Returns its port. */
export async function startRedis(
  folder: string,
  appendfsync: 'everysec' | 'always',
  started: Started[],
): Promise<number> {
  mkdirSync(folder)
  const port = await freePort()
  const options = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    appendonly: 'yes',
    appendfsync,
    save: '',
    'maxmemory-policy': 'noeviction',
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(REDIS, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  started.push({ child, url: '', port })
  const end = Date.now() + START_MS
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > end) throw new Error('Redis did not start')
    await sleep(50)
  }
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
