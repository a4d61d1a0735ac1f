import { cpus } from 'node:os'
import type { Measurement } from './load.ts'

export interface Measured {
  name: string
  rounds: Measurement[]
}

export interface Result extends Measurement {
  name: string
  ofBare: number
}

/**
 * Returns medians over the rounds. The first target is the bare server that the others are compared
 * with.
 */
export function summarize(measured: Measured[]): Result[] {
  const medians = measured.map(({ name, rounds }) => ({
    name,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  }))
  const bare = medians[0]?.perSecond ?? Number.NaN
  return medians.map((result) => ({ ...result, ofBare: result.perSecond / bare }))
}

export function report(results: Result[], aims: string[]): string {
  const rows = [
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'of bare'],
    ...results.map(({ name, perSecond, p50Ms, p99Ms, ofBare }) => [
      name,
      String(Math.round(perSecond)),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      ofBare.toFixed(2),
    ]),
  ]
  const machine = `Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`
  return `${machine}\n\n${table(rows)}\n${aims.join('\n')}\n`
}

export function aims(results: Result[]): string[] {
  const named = (name: string) => results.find((result) => result.name.includes(name))
  const row = named('Mailplane, row by id')
  const fastApi = named('FastAPI')
  const lines = [
    aim('auth/me at least 0.35 of bare node:http', (named('auth/me')?.ofBare ?? 0) >= 0.35),
    aim('row by id at least 0.25 of bare node:http', (row?.ofBare ?? 0) >= 0.25),
  ]
  if (fastApi) {
    const times = (row?.perSecond ?? 0) / fastApi.perSecond
    lines.push(aim(`row by id at least twice FastAPI + asyncpg (${times.toFixed(1)})`, times >= 2))
  }
  return lines
}

export const aim = (text: string, isReached: boolean) =>
  `  aim: ${text}: ${isReached ? 'reached' : 'NOT REACHED'}`

/** Names in the first column, figures in the others. */
export function table(rows: string[][]): string {
  const width = Math.max(...rows.map(([name = '']) => name.length))
  const lines = rows.map(([name = '', ...figures]) =>
    [name.padEnd(width), ...figures.map((figure) => figure.padStart(10))].join('  '),
  )
  return lines.join('\n')
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
