import { setTimeout as sleep } from 'node:timers/promises'
import type { Case } from './cases.ts'

const WARM = 3

/** Returns the milliseconds of each request, sent one at a time, in ascending order. */
export async function timeRoute(
  url: string,
  { path, body, pauseMs }: Case,
  headers: Record<string, string>,
  requests: number,
): Promise<number[]> {
  const latencies: number[] = []
  for (let n = 0; n < requests + WARM; n++) {
    if (pauseMs) await sleep(pauseMs)
    const begin = performance.now()
    const response = await fetch(`${url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    if (n >= WARM) latencies.push(performance.now() - begin)
  }
  return latencies.sort((a, b) => a - b)
}

export const quantile = (sorted: number[], part: number): number =>
  sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
