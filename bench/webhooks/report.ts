import { aim, median, table } from '../report.ts'
import type { Claims } from './claims.ts'
import type { Latency, Paced } from './latency.ts'

export interface Contestant {
  name: string
  /** Sends all events and resolves once every delivery is recorded. */
  send(): Promise<void>
  rates: number[]
}

const TIMES_BULLMQ = 1.5

export function throughput([raw, own, ...others]: Contestant[]): string {
  const rate = (contestant?: Contestant) => median(contestant?.rates ?? [])
  const all = [raw, own, ...others].filter((contestant) => contestant !== undefined)
  const rows = all.map((contestant) => [
    contestant.name,
    rate(contestant).toFixed(0),
    (rate(contestant) / rate(raw)).toFixed(2),
    (rate(contestant) / rate(own)).toFixed(2),
  ])
  return [
    table([['', 'per second', 'of raw', 'of own'], ...rows]),
    ...others.map((other) =>
      aim(`at least ${TIMES_BULLMQ} times ${other.name}`, rate(own) >= TIMES_BULLMQ * rate(other)),
    ),
    '',
  ].join('\n')
}

const figures = ({ p50Ms, p95Ms, p99Ms }: Latency) =>
  [p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(2))

export function latencies(eachSecond: number, { fromCommit, fromStatement }: Paced): string {
  return [
    table([
      [`${eachSecond} events a second, to the receipt`, 'p50 ms', 'p95 ms', 'p99 ms'],
      ['from the answer to the commit', ...figures(fromCommit)],
      ['from the sending of the statement', ...figures(fromStatement)],
    ]),
    aim('p95 from the commit under 50 ms', fromCommit.p95Ms < 50),
    '',
  ].join('\n')
}

export function claims(measured: Claims[]): string {
  const rows = measured.map(({ waiting, ...latency }) => [
    `${waiting} waiting`,
    ...figures(latency),
  ])
  const [least = Number.NaN, ...more] = measured.map(({ p50Ms }) => p50Ms)
  return [
    table([['claiming 500 events', 'p50 ms', 'p95 ms', 'p99 ms'], ...rows]),
    // 1.5 leaves room for the noise of a busy machine.
    aim(
      'claiming takes no longer as the queue grows',
      more.every((ms) => ms < 1.5 * least),
    ),
  ].join('\n')
}
