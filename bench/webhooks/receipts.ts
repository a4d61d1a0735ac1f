import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Started, start } from '../servers.ts'
import type { Receipts } from './receiver.ts'

const ASK_MS = 100
const PATIENCE_MS = 120_000

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts the receiver in its own process and returns functions that query it. */
export async function startReceiver(started: Started[]) {
  const file = fileURLToPath(new URL('./receiver.ts', import.meta.url))
  const { url } = await start(process.execPath, [file], {}, started)
  const ask = async (path: string, method = 'GET') =>
    (await fetch(`${url}${path}`, { method })).json()
  return {
    url,
    forget: () => ask('/', 'DELETE'),
    /** Arrival time of each event in nanoseconds, by event id. */
    each: async () =>
      new Map(((await ask('/each')) as [string, string][]).map(([id, ns]) => [id, BigInt(ns)])),
    async waitFor(count: number): Promise<Receipts> {
      const end = Date.now() + PATIENCE_MS
      for (;;) {
        const receipts = (await ask('/')) as Receipts
        if (receipts.count >= count) return receipts
        if (Date.now() > end) throw new Error(`${receipts.count} of ${count} arrived`)
        await sleep(ASK_MS)
      }
    },
  }
}

/** From the first receipt to the last, so that filling the queue does not count. */
export const perSecond = ({ count, firstNs, lastNs }: Receipts): number =>
  ((count - 1) * 1e9) / Number(BigInt(lastNs) - BigInt(firstNs))
