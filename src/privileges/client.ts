import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import type { EdgeServer } from '../edge/restart.ts'
import type { FileTail } from '../lib/file-tail.ts'
import { limiter } from '../lib/mutex.ts'
import { QueueAway } from '../mail/mail-queue.ts'
import type { CurrentMailServers } from '../mail/mail-servers.ts'
import type { Ended, RunQueueCommand } from '../mail/postfix-program.ts'
import { lineCutter } from '../mail/queue-lines.ts'
import type { WriteCertificates } from '../mail/server-certificates.ts'
import type { LoggedServer } from '../mail/server-logs.ts'
import type { SigningKeys } from '../mail/signing-keys.ts'
import type { Answer, RequestOf, Verb } from './protocol.ts'

// Above the longest restart of a mail server.
const PATIENCE_MS = 150_000

/** The helper refused a request or did not respond. */
export class HelperFailed extends Error {}

export type HelperClient = ReturnType<typeof helperClient>

/** Asks the helper for what needs the rights of root. */
export function helperClient(path: string) {
  const ask = <Name extends Verb>(verb: Name, request: RequestOf<Name>) =>
    start(path, verb, request).result

  const runQueueCommand: RunQueueCommand = (command, timeoutMs) => {
    const { onOutput, hangUp, result } = start(path, 'queue', {
      command: command as RequestOf<'queue'>['command'],
      timeoutMs,
    })
    let isKilled = false
    const ended = result.then(
      (answer) => answer as Ended,
      (error) => {
        if (isKilled) return { status: null, complaint: '', isLate: false }
        throw new QueueAway((error as Error).message, { cause: error })
      },
    )
    ended.catch(() => {})
    const kill = () => {
      isKilled = true
      hangUp()
    }
    return { onOutput, kill, ended }
  }

  const writeCertificates: WriteCertificates = async (certificates, version) =>
    (await ask('certificates', { certificates: [...certificates], version })) as boolean

  const readServerLog = async (server: LoggedServer): Promise<FileTail> => {
    const { onOutput, result } = start(path, 'server-log', { server })
    const pieces: Buffer[] = []
    onOutput((bytes) => pieces.push(bytes))
    const { isCut } = (await result) as { isCut: boolean }
    return { bytes: Buffer.concat(pieces), isCut }
  }

  return {
    runQueueCommand,
    writeCertificates,
    readServerLog,
    restart: async (server: EdgeServer) => void (await ask('restart', { server })),
    signingKeys: (mailServers: CurrentMailServers): SigningKeys => {
      const inTurn = limiter(1)
      return {
        get isConfigured() {
          return existsSync(mailServers.current().EDGE_DKIM_DIR)
        },
        publish: (domain, keys, signing) =>
          inTurn(async () => {
            const list = keys.map(({ selector, privateKey }) => ({ selector, privateKey }))
            const request = { domain, keys: list, ...(signing !== undefined && { signing }) }
            await ask('signing-keys', request)
          }),
        domains: () => inTurn(async () => (await ask('signing-domains', {})) as string[]),
        close: async () => {},
      }
    },
  }
}

/** Sends one request over a connection of its own. */
function start<Name extends Verb>(path: string, verb: Name, request: RequestOf<Name>) {
  const listeners: ((bytes: Buffer) => void)[] = []
  const socket = connect(path)
  const result = new Promise<unknown>((resolve, reject) => {
    const lines = lineCutter((line) => {
      const answer = JSON.parse(line ?? '{}') as Answer
      if ('output' in answer) {
        for (const listener of listeners) listener(Buffer.from(answer.output, 'base64'))
      } else if ('result' in answer) resolve(answer.result)
      else reject(new HelperFailed(answer.error ?? 'the helper sent an unknown answer'))
    })
    socket.setTimeout(PATIENCE_MS, () => socket.destroy())
    socket.once('connect', () => socket.write(`${JSON.stringify([verb, request])}\n`))
    socket.on('data', (bytes) => lines.take(bytes))
    socket.once('error', (error) =>
      reject(
        new HelperFailed(`the helper does not answer (${(error as NodeJS.ErrnoException).code})`),
      ),
    )
    socket.once('close', () => reject(new HelperFailed('the helper closed the connection')))
  })
  result.catch(() => {}).finally(() => socket.destroy())
  return {
    result,
    onOutput: (listener: (bytes: Buffer) => void) => void listeners.push(listener),
    hangUp: () => socket.destroy(),
  }
}
