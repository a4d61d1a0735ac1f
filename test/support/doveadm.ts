import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

type Command = [
  name: string,
  parameters: { user?: string | string[]; mask?: string[] },
  tag: string,
]

interface Asked {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  commands: Command[]
}

/** Its behaviour: respond like Dovecot, with a command error, with an HTTP error, or never. */
export type Mood =
  | 'well'
  | 'temporary failure'
  | 'unknown command'
  | 'wrong key'
  | 'garbage'
  | 'never'

export type Doveadm = Awaited<ReturnType<typeof startDoveadm>>

/** The HTTP API of doveadm: only the login cache and the size of mailboxes. */
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
      const expected = `X-Dovecot-API ${Buffer.from(key).toString('base64')}`
      if (state.mood === 'wrong key' || headers.authorization !== expected) {
        response.writeHead(401, { 'www-authenticate': 'X-Dovecot-API' }).end()
        return
      }
      response.setHeader('content-type', 'application/json; charset=utf-8')
      response.end(state.mood === 'garbage' ? '<html>' : JSON.stringify(answers(commands)))
    })
  })
  const answers = (commands: Command[]) =>
    commands.map(([name, { user }, tag]) => {
      if (state.mood === 'temporary failure') {
        return ['error', { type: 'exitCode', exitCode: 75 }, tag]
      }
      if (state.mood !== 'well') return ['error', { type: 'unknownMethod', exitCode: 0 }, tag]
      if (name === 'authCacheFlush') return ['doveadmResponse', [{ entries: '1' }], tag]
      const mailbox = name === 'mailboxStatus' ? status.get(String(user)) : undefined
      if (!mailbox) return ['error', { type: 'exitCode', exitCode: 67 }, tag]
      const { messages, vsize } = mailbox
      const row = { mailbox: 'INBOX', messages: String(messages), vsize: String(vsize) }
      return ['doveadmResponse', [row], tag]
    })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    state,
    /** The status of each mailbox; all others are unknown. */
    status,
    /** Requests that flush logins, without those about mailboxes only. */
    flushes: () =>
      asked.filter(({ commands }) => commands.some(([name]) => name === 'authCacheFlush')),
    /** The flushed logins, in order. */
    flushed: () =>
      asked
        .flatMap(({ commands }) => commands)
        .flatMap(([name, { user }]) => (name === 'authCacheFlush' ? (user ?? []) : [])),
    /** The logins whose sessions were ended, in order; the network of the client follows each. */
    kicked: () => [
      ...new Set(
        asked
          .flatMap(({ commands }) => commands)
          .flatMap(([name, { mask = [] }]) => (name === 'kick' ? mask.slice(0, 1) : [])),
      ),
    ],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
