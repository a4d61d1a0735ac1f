import { afterAll, describe, expect, it } from 'vitest'
import { edgeMissing, skipped } from '../support/edge.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { cleanUp, run, startServer, temporaryFolder } from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { startSink } from '../support/smtp-sink.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`kill -9 of the content filter${skipped}`, () => {
  afterAll(cleanUp)

  it('loses nothing that was accepted, and accepts nothing that it had not handed on', async () => {
    const sink = await startSink()
    const dataDir = `${temporaryFolder()}/data`
    const edge = (...args: string[]) =>
      run(['edge', ...args], { DATA_DIR: dataDir, EDGE_RELAY_HOST: sink.host })
    const start = () => startServer({ dataDir, env: { SVC_COOKIE_SECURE: 'false' } })
    try {
      const ports = JSON.parse((await edge('up', '--json')).stdout)
      let server = await start()
      await bootstrapBoth(server)
      const from = 'admin@acme.test'
      const send = async (to: string) => {
        const client = await openSmtp({ port: ports.internal.port })
        const { code } = await client.send({ from, to, text: message(from, to, 'kept') })
        client.quit()
        return code
      }
      await waitFor(async () => (await send('first@outside.test')) === 250, 20_000)

      // Stopped, it has messages in its hands; killed, it will never answer for them.
      process.kill(server.pid, 'SIGSTOP')
      const names = Array.from({ length: 8 }, (_, n) => `reader-${n}@outside.test`)
      const answers = Promise.all(names.map(async (to) => ({ to, code: await send(to) })))
      await new Promise((resolve) => setTimeout(resolve, 1000))
      process.kill(server.pid, 'SIGKILL')
      const refused = (await answers).filter(({ code }) => code !== 250)
      expect(refused).toHaveLength(names.length)

      server = await start()
      for (const { to } of refused) await waitFor(async () => (await send(to)) === 250, 20_000)
      await waitFor(() => names.every((to) => sink.to(to).length > 0), 20_000)
      await server.stop()
    } finally {
      await edge('down', '--delete')
      await sink.stop()
    }
  }, 180_000)
})
