import { readSummary, type Summary } from './summary.ts'

interface Input {
  responses: { text: string; literals: Uint8Array[] }[]
}

/** Reads responses to FETCH in a worker thread: headers are written by strangers. */
export default ({ responses }: Input): Summary[] =>
  responses.flatMap((response) => readSummary(response) ?? [])
