import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

type Command = [name: string, parameters: { user?: string[] }, tag: string]

interface Asked {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  commands: Command[]
}

/** How it answers: as Dovecot does, with an error of the command, with an error of HTTP, or never. */
export type Mood = 'well' | 'unknown command' | 'wrong key' | 'garbage' | 'never'

export type Doveadm = Awaited<ReturnType<typeof startDoveadm>>

/** Dovecot's HTTP administration interface, as far as the login cache goes. */
export async function startDoveadm(key: string) {
  const asked: Asked[] = []
  const state = { mood: 'well' as Mood }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const commands = JSON.parse(Buffer.concat(chunks).toString()) as Command[]
      const { method, url: path, headers } = request
      asked.push({ method, path, headers, commands })
      if (state.mood === 'never') return
      const wanted = `X-Dovecot-API ${Buffer.from(key).toString('base64')}`
      if (state.mood === 'wrong key' || headers.authorization !== wanted) {
        response.writeHead(401, { 'www-authenticate': 'X-Dovecot-API' }).end()
        return
      }
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(state.mood === 'garbage' ? '<html>' : JSON.stringify(answers(commands)))
    })
  })
  const answers = (commands: Command[]) =>
    commands.map(([name, , tag]) =>
      state.mood === 'well' && name === 'authCacheFlush'
        ? ['doveadmResponse', [{ entries: '1' }], tag]
        : ['error', { type: 'unknownMethod', exitCode: 0 }, tag],
    )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    state,
    /** The logins it was told to forget, in order. */
    flushed: () => asked.flatMap(({ commands }) => commands.flatMap(([, { user }]) => user ?? [])),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
