import { Type } from 'typebox'
import { Unprocessable } from '../errors.ts'

/** The place of a row in a list that is sorted by time and id. */
export interface Position {
  /** Microseconds since 1970, as exact as times in PostgreSQL. */
  at: number
  id: string
}

export const CursorQuery = {
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the page before; absent: the first page' }),
  ),
}

export const cursorOf = ({ at, id }: Position): string =>
  Buffer.from(`${at}.${id}`).toString('base64url')

/** Reads a cursor, which a caller may have changed. */
export function positionOf(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, at = '', id = ''] = /^(\d{1,16})\.([\x21-\x7e]{1,255})$/.exec(text) ?? []
  if (id === '' || !Number.isSafeInteger(Number(at))) {
    throw new Unprocessable('cursor must be the next_cursor of an answer of this list')
  }
  return { at: Number(at), id }
}
