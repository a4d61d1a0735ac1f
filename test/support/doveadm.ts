import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

type Command = [name: string, parameters: { user?: string | string[] }, tag: string]

interface Asked {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  commands: Command[]
}

/** How it answers: as Dovecot does, with an error of the command, with an error of HTTP, or never. */
export type Mood = 'well' | 'unknown command' | 'wrong key' | 'garbage' | 'never'

export type Doveadm = Awaited<ReturnType<typeof startDoveadm>>

/** Dovecot's HTTP administration interface, as far as the login cache and sizes of mailboxes go. */
export async function startDoveadm(key: string) {
  const asked: Asked[] = []
  const state = { mood: 'well' as Mood }
  const status = new Map<string, { messages: number; vsize: number }>()
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
    commands.map(([name, { user }, tag]) => {
      if (state.mood !== 'well') return ['error', { type: 'unknownMethod', exitCode: 0 }, tag]
      if (name === 'authCacheFlush') return ['doveadmResponse', [{ entries: '1' }], tag]
      const known = name === 'mailboxStatus' ? status.get(String(user)) : undefined
      if (!known) return ['error', { type: 'exitCode', exitCode: 67 }, tag]
      const { messages, vsize } = known
      const row = { mailbox: 'INBOX', messages: String(messages), vsize: String(vsize) }
      return ['doveadmResponse', [row], tag]
    })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    state,
    /** What it finds in a mailbox; it knows no others. */
    status,
    /** Requests about logins, without those that are only about mailboxes. */
    flushes: () =>
      asked.filter(({ commands }) => commands.some(([name]) => name === 'authCacheFlush')),
    /** The logins it was told to forget, in order. */
    flushed: () =>
      asked
        .flatMap(({ commands }) => commands)
        .flatMap(([name, { user }]) => (name === 'authCacheFlush' ? (user ?? []) : [])),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
