import { Agent, request } from 'node:http'

export interface Login {
  base: string
  user: string
  password: string
}

interface Sent {
  method: string
  path: string
  body?: string
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  text: string
}

export type Program = ReturnType<typeof httpProgram>

/** A program of a mailbox holder on one connection that stays open. */
export function httpProgram({ base, user, password }: Login) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const send = ({ method, path, body = '', headers = {} }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const length = String(Buffer.byteLength(body))
      const sent = request(
        new URL(path, base),
        { method, agent, headers: { authorization, 'content-length': length, ...headers } },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece) => pieces.push(piece))
          response.once('error', reject)
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }),
          )
        },
      )
      sent.once('error', reject)
      sent.end(body)
    })
  return {
    send,
    async expect(sent: Sent, ...statuses: number[]): Promise<string> {
      const { status, text } = await send(sent)
      if (!statuses.includes(status)) {
        throw new Error(`${sent.method} ${sent.path}: ${status} ${text.slice(0, 500)}`)
      }
      return text
    },
    end: () => agent.destroy(),
  }
}

/** Milliseconds of each of many calls, after some that are not counted. */
export async function timed(count: number, work: () => Promise<unknown>): Promise<number[]> {
  for (let at = 0; at < Math.ceil(count / 10); at++) await work()
  const times: number[] = []
  for (let at = 0; at < count; at++) {
    const begun = performance.now()
    await work()
    times.push(performance.now() - begun)
  }
  return times
}
