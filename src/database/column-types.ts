import { parse as parseArray } from 'postgres-array'

/*
 * Rows come out ready to send: timestamps as ISO 8601 text in UTC, 64-bit integers as numbers, arrays as
 * arrays. Numbers on the left are type ids of PostgreSQL, which never change.
 */

interface ColumnType<Value> {
  to: number
  from: number[]
  serialize(value: Value): string
  parse(text: string): unknown
}

const bigint: ColumnType<number | bigint> = {
  to: 20,
  from: [20],
  serialize: String,
  parse: Number,
}
const timestamptz: ColumnType<Date | string> = {
  to: 1184,
  from: [1184],
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  parse: isoTimestamp,
}

export const columnTypes = {
  bigint,
  timestamptz,
  smallintArray: arrayOf(1005, Number),
  integerArray: arrayOf(1007, Number),
  textArray: arrayOf(1009, (text) => text),
  bigintArray: arrayOf(1016, Number),
  timestamptzArray: arrayOf(1185, isoTimestamp),
}

function arrayOf(id: number, parse: (text: string) => unknown): ColumnType<readonly unknown[]> {
  return {
    to: id,
    from: [id],
    serialize: arrayLiteral,
    parse: (text) => parseArray(text, parse),
  }
}

function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map((value) => (value === null ? 'null' : quoted(value))).join()}}`
}

function quoted(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** `2026-11-15 02:37:58.5+00` as PostgreSQL writes it in UTC, to `2026-11-15T02:37:58.500Z`. */
export function isoTimestamp(text: string): string {
  const [time = '', fraction = ''] = text.slice(0, -'+00'.length).split('.')
  return `${time.replace(' ', 'T')}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}
