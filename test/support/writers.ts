import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from './http.ts'

/** A writer that was refused waits a little, like any client. */
const REFUSED_MS = 50

interface Writing {
  base(): string
  apiKey: string
  writers: number
  /** Every name is used once. */
  prefix: string
  /** The pause of a writer after each answer. */
  pauseMs?: number
}

/**
 * Creates API objects over kept connections until it is stopped or the server is gone, and records
 * every outcome: a status, or the code of the error of a connection.
 */
export function startWriters({ base, apiKey, writers, prefix, pauseMs = 0 }: Writing) {
  const acknowledged: string[] = []
  const outcomes = new Map<string, number>()
  let isOver = false
  let count = 0
  let newest = 0
  const note = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)

  async function write(): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    while (!isOver) {
      const domain = `${prefix}-${count++}.test`
      const begunAt = Date.now()
      try {
        const { status } = await send(base(), 'POST', '/api/v1/domains/', {
          headers: { 'x-api-key': apiKey },
          body: { domain, dkim_enabled: false },
          agent,
        })
        note(String(status))
        if (status === 201) {
          acknowledged.push(domain)
          newest = Math.max(newest, begunAt)
        }
        await sleep(status === 201 ? pauseMs : REFUSED_MS)
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException
        note(code)
        if (code === 'ECONNREFUSED') break
      }
    }
    agent.destroy()
  }
  const done = Promise.all(Array.from({ length: writers }, write))

  return {
    acknowledged,
    outcomes,
    /** The start of the newest write that was acknowledged. */
    get newest() {
      return newest
    },
    /** Waits until the server is gone. */
    ended: () => done,
    async stop() {
      isOver = true
      await done
    },
  }
}
