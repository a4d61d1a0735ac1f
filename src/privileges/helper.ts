import { chownSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { Config } from '../config/index.ts'
import type { MailServerSettings } from '../config/mail-servers.ts'
import { restartEdge } from '../edge/edge.ts'
import type { ServiceUser } from '../edge/service-user.ts'
import type { RunQueueCommand } from '../mail/postfix-program.ts'
import { ownQueueCommands } from '../mail/postfix-queue.ts'
import { writeServerCertificates } from '../mail/server-certificates.files.ts'
import { type LoggedServer, readServerLog, serverLogFile } from '../mail/server-logs.ts'
import { signingKeysInFiles } from '../mail/signing-keys.files.ts'
import {
  type Answer,
  MAX_REQUEST_BYTES,
  type RequestOf,
  readRequest,
  type Verb,
} from './protocol.ts'
import { trustedEdge, trustedMailServers } from './trusted-edge.ts'

const PIECE_BYTES = 192 * 1024

type Send = (answer: Answer) => void
type Handlers = {
  [Name in Verb]: (request: RequestOf<Name>, send: Send, socket: Socket) => Promise<unknown>
}

/**
 * The part of Mailplane that keeps the rights of root: commands of the queue, restarts of a private
 * edge, keys, certificates and logs of the mail servers. It parses no mail and takes no path from a caller.
 * Only the service user can connect to its socket, which lies in a folder of root.
 */
export async function startHelper(
  config: Config,
  path: string,
  user: Pick<ServiceUser, 'uid' | 'gid'>,
  { canRestart }: { canRestart: boolean },
): Promise<{ stop(): Promise<void> }> {
  const handlers = handlersFor(config, canRestart)
  const server = createServer((socket) => serveOne(socket, handlers))
  rmSync(path, { force: true })
  const umask = process.umask(0o177)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(path, resolve)
    })
  } finally {
    process.umask(umask)
  }
  chownSync(path, user.uid, user.gid)
  return {
    async stop() {
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function handlersFor(config: Config, canRestart: boolean): Handlers {
  const mailServers = trustedMailServers(config)
  const queue = ownQueueCommands(mailServers)
  const keys = signingKeysInFiles(mailServers)
  return {
    queue: ({ command, timeoutMs }, send, socket) =>
      relay(queue, command as Parameters<RunQueueCommand>[0], timeoutMs, send, socket),
    restart: async ({ server }) => {
      if (!canRestart) {
        throw new Error(`this helper restarts no server; run edge down and edge up for ${server}`)
      }
      const folder = trustedEdge(config.DATA_DIR)
      if (folder === undefined) throw new Error('there is no private edge')
      await restartEdge(folder, server)
    },
    'signing-keys': ({ domain, keys: list, signing }) => keys.publish(domain, list, signing),
    'server-log': ({ server }, send) =>
      sendLog(mailServers.current(), server as LoggedServer, send),
    'signing-domains': () => keys.domains(),
    certificates: ({ certificates, version }) =>
      writeServerCertificates(mailServers.current().EDGE_SNI_DIR, certificates, version),
  }
}

/** Sends the end of a log. The path comes from the settings of root, never from the caller. */
async function sendLog(settings: MailServerSettings, server: LoggedServer, send: Send) {
  const path = serverLogFile(settings, server)
  if (path === undefined) throw new Error(`there is no log of ${server}`)
  const { bytes, isCut } = await readServerLog(path)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    send({ output: bytes.toString('base64', at, at + PIECE_BYTES) })
  }
  return { isCut }
}

/** Passes the output on as it comes; a caller that hangs up ends the program. */
async function relay(
  queue: RunQueueCommand,
  command: Parameters<RunQueueCommand>[0],
  timeoutMs: number,
  send: Send,
  socket: Socket,
) {
  const { onOutput, kill, ended } = queue(command, timeoutMs)
  socket.once('close', kill)
  onOutput((bytes) => send({ output: bytes.toString('base64') }))
  return ended
}

/** One request per connection. */
function serveOne(socket: Socket, handlers: Handlers): void {
  const chunks: Buffer[] = []
  let length = 0
  const send: Send = (answer) => {
    if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`)
  }
  const answer = async (line: string) => {
    try {
      const { verb, request } = readRequest(line)
      const handle = handlers[verb] as (request: unknown, send: Send, socket: Socket) => unknown
      send({ result: (await handle(request, send, socket)) ?? null })
    } catch (error) {
      send({ error: (error as Error).message })
    }
    socket.end()
  }
  const take = (bytes: Buffer) => {
    length += bytes.length
    if (length > MAX_REQUEST_BYTES) return socket.destroy()
    chunks.push(bytes)
    if (!bytes.includes(10)) return
    socket.off('data', take).resume()
    const text = Buffer.concat(chunks).toString('utf8')
    void answer(text.slice(0, text.indexOf('\n')))
  }
  socket.on('data', take).on('error', () => socket.destroy())
}
