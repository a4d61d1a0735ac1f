import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../../src/lib/free-port.ts'
import { orStop } from './or-stop.ts'
import { waitFor } from './wait.ts'

const PROGRAM = '/usr/bin/redis-server'

/** The reason why no Redis is available; undefined when one is. */
export const redisMissing = (): string | undefined =>
  existsSync(PROGRAM) ? undefined : 'redis-server is not installed'

interface Options {
  password?: string
  /** Writes every command to disk; otherwise nothing is stored. */
  durable?: boolean
  /** Further settings on the command line. */
  settings?: string[]
}

/** A private Redis on loopback that can be killed and restarted. */
export async function startRedis({ password, durable = false, settings: more = [] }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-redis-'))
  const port = await freePort()
  const url = `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`
  let program: ChildProcess | undefined

  const kill = async () => {
    if (program?.exitCode !== null || program.signalCode !== null) return
    program.kill('SIGKILL')
    await once(program, 'exit')
  }
  const start = async () => {
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
    const storage = durable
      ? ['--appendonly', 'yes', '--appendfsync', 'always']
      : ['--appendonly', 'no']
    const secret = password ? ['--requirepass', password] : []
    program = spawn(PROGRAM, [...settings, ...secret, '--save', '', ...storage, ...more], {
      stdio: 'ignore',
    })
    await waitFor(() => ask((client) => client.ping()).catch(() => undefined))
  }
  const ask = async <Result>(work: (client: Redis) => Promise<Result>): Promise<Result> => {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    try {
      await client.connect()
      return await work(client)
    } finally {
      client.disconnect()
    }
  }

  const stop = async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  await orStop(start(), stop)
  return {
    url,
    port,
    start,
    kill,
    ask,
    /** Returns the number of subscribers that received the message. */
    publish: (channel: string, message: string | Buffer) =>
      ask((client) => client.publish(channel, message)),
    stop,
  }
}
