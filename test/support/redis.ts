import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { waitFor } from './wait.ts'

/** A real Redis on a free port, which can be killed and started again. */
export async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-redis-'))
  const port = await freePort()
  let server: ChildProcess | undefined
  const url = `redis://127.0.0.1:${port}`

  const start = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
    server = spawn('redis-server', [...args, '--appendonly', 'yes', '--appendfsync', 'always'], {
      stdio: 'ignore',
    })
    await waitFor(async () => {
      const probe = new Redis(url, { lazyConnect: true, retryStrategy: null })
      probe.on('error', () => {})
      const answer = await probe
        .connect()
        .then(() => probe.ping())
        .catch(() => undefined)
      probe.disconnect()
      return answer === 'PONG'
    })
  }
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    url,
    start,
    kill,
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
