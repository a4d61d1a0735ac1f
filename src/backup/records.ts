import { StartupError } from '../startup-error.ts'
import { reader } from './sealing.ts'

/** The records of a backup, in this order: about, files, tables with their rows, sequences, end. */
export type Record =
  | { kind: 'about'; about: About }
  | { kind: 'file'; name: string; text: string }
  | { kind: 'table'; table: TableName; columns: string[] }
  | { kind: 'rows'; bytes: Buffer }
  | { kind: 'table end'; rows: number }
  | { kind: 'sequences'; values: { name: string; value: string }[] }
  | { kind: 'end'; tables: number; rows: number }

export interface About {
  backup_id: string
  hostname: string
  created_at: string
  version: string
  migrations: { name: string; checksum: string }[]
}

export interface TableName {
  schema: string
  name: string
}

const ROWS = 1
const OTHER = 0
const HEAD_BYTES = 5
const MAX_BYTES = 1024 * 1024 * 1024

export function encode(record: Record): Buffer {
  const isRows = record.kind === 'rows'
  const body = isRows ? record.bytes : Buffer.from(JSON.stringify(record))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(isRows ? ROWS : OTHER)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

export async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<Record> {
  const read = reader(bytes)
  for (let head = await read(HEAD_BYTES); head; head = await read(HEAD_BYTES)) {
    const length = head.readUInt32BE(1)
    const body = length <= MAX_BYTES ? await read(length) : undefined
    if (!body) throw new StartupError('the backup is damaged')
    yield head.readUInt8() === ROWS
      ? { kind: 'rows', bytes: body }
      : (JSON.parse(body.toString()) as Record)
  }
}

/** COPY escapes line breaks in values, so one line is one row. */
export function rowsIn(bytes: Buffer): number {
  let rows = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows++
  return rows
}
