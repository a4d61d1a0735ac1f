import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../../src/lib/free-port.ts'
import { orStop } from './or-stop.ts'
import { startRedis } from './redis.ts'
import { waitFor } from './wait.ts'

const PRIMARY = 'mail'

/** A primary, a replica, and a Sentinel that promotes the replica when the primary is gone. */
export async function startSentinel() {
  const primary = await startRedis()
  const replica = await orStop(
    startRedis({ settings: ['--replicaof', '127.0.0.1', String(primary.port)] }),
    primary.stop,
  )
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-sentinel-'))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  writeFileSync(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${PRIMARY} 127.0.0.1 ${primary.port} 1`,
      `sentinel down-after-milliseconds ${PRIMARY} 2000`,
      `sentinel failover-timeout ${PRIMARY} 4000`,
    ].join('\n'),
  )
  const sentinel = spawn('/usr/bin/redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const ask = async (...command: [string, ...string[]]) => {
    const client = new Redis(port, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.call(...command)
    } finally {
      client.disconnect()
    }
  }
  const stop = async () => {
    await end(sentinel)
    await replica.stop()
    await primary.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  // Without a replica that it knows, the Sentinel has nothing to promote.
  const isReady = waitFor(async () => {
    const replicas = await ask('SENTINEL', 'replicas', PRIMARY).catch(() => [])
    const isLinked = await replica.ask((client) => client.info('replication'))
    return (
      Array.isArray(replicas) && replicas.length > 0 && isLinked.includes('master_link_status:up')
    )
  })
  await orStop(isReady, stop)
  return { url: `redis+sentinel://127.0.0.1:${port}/${PRIMARY}`, primary, stop }
}

/** Two nodes that share the slots. */
export async function startRedisCluster() {
  // Without a port for the nodes among themselves, Redis takes one that may be out of range.
  const node = async () => {
    const busPort = await freePort()
    const settings = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)]
    return { ...(await startRedis({ settings })), busPort }
  }
  const first = await node()
  const second = await orStop(node(), first.stop)
  const nodes = [first, second] as const
  const stop = async () => {
    for (const node of nodes) await node.stop()
  }
  const join = async () => {
    await first.ask((client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191'))
    await second.ask((client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383'))
    await first.ask((client) => client.cluster('MEET', '127.0.0.1', second.port, second.busPort))
    await waitFor(async () => {
      const states = await Promise.all(
        nodes.map((node) => node.ask((client) => client.cluster('INFO'))),
      )
      return states.every((state) => state.includes('cluster_state:ok'))
    })
  }
  await orStop(join(), stop)
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}`,
    nodes,
    stop,
  }
}

async function end(program: ChildProcess) {
  if (program.exitCode !== null || program.signalCode !== null) return
  program.kill('SIGKILL')
  await once(program, 'exit')
}
