import http from 'node:http'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { startEmbedded, urlOf } from '../../src/database/embedded.ts'
import { freePort } from '../../src/lib/free-port.ts'
import { startHaproxy } from '../../test/support/haproxy.ts'
import { send } from '../../test/support/http.ts'
import { cleanUp, MAIN, startServer, temporaryFolder, until } from '../../test/support/process.ts'
import { builtRelease, releases } from '../../test/support/releases.ts'
import { bootstrap } from '../bootstrap.ts'
import type { Row } from '../parts.ts'

const REQUESTS = 10_000
const CLIENTS = 8

/** Restarts two processes in turn; in the first rounds the last release gives way to this version. */
export default async function measure(): Promise<Row[]> {
  const last = releases.at(-1)
  const upgraded = last ? await roll('upgrade', builtRelease(last)) : []
  return [...(await roll('restarts', MAIN)), ...upgraded]
}

/** Begins with the program `main` behind haproxy, until all requests are answered. */
async function roll(name: string, main: string): Promise<Row[]> {
  const folder = temporaryFolder()
  prepareDataDir(folder)
  const database = await startEmbedded(folder, () => {})
  const env = {
    DATABASE_URL: urlOf(database.target),
    SVC_SECRET_KEY: 'the root key that both processes have',
    SVC_DRAIN_SECONDS: '3',
  }
  const ports = [await freePort(), await freePort()] as const
  const start = (port: number, program = MAIN) =>
    startServer({
      main: program,
      dataDir: temporaryFolder(),
      env: { ...env, PORT: String(port) },
      args: ['--services', 'api'],
    })
  try {
    const first = await start(ports[0], main)
    const { api_key } = await bootstrap(first.base, first.dataDir)
    const servers = [first, await start(ports[1], main)]
    const proxy = await startHaproxy(...ports)
    const outcomes = new Map<string, number>()
    let left = REQUESTS
    const client = async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      while (left-- > 0) {
        const outcome = await send(proxy.base, 'GET', '/api/v1/auth/me', {
          headers: { 'x-api-key': api_key },
          agent,
        }).then(
          ({ status }) => String(status),
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        )
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        // Spread over several restarts.
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      agent.destroy()
    }
    const clients = Promise.all(Array.from({ length: CLIENTS }, client))
    let restarts = 0
    while (left > 0) {
      const index = restarts++ % 2
      await servers[index]?.stop()
      servers[index] = await start(ports[index] as number)
      // It is in use again, or all requests are done.
      await until(
        async () =>
          left <= 0 ||
          /path="\/api\/v1\/auth\/me"/.test(
            (await servers[index]?.send('GET', '/metrics'))?.text ?? '',
          ),
      )
    }
    await clients
    await proxy.stop()
    for (const server of servers) await server.stop()
    const seen = [...outcomes].map(([outcome, count]) => `${count} of ${outcome}`).join(', ')
    return [
      {
        what: `answers during ${restarts} restarts (${name})`,
        value: seen,
        aim: `${REQUESTS} of 200`,
      },
    ]
  } finally {
    await database.stop()
    await cleanUp()
  }
}
