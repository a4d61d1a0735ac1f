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

/** Medians over the rounds; the first target is the bare server that the others are held against. */
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

export function report(results: Result[]): string {
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
  return `${machine}\n\n${table(rows)}\n`
}

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
