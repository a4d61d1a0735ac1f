import type { Db } from '../../../database/database.ts'
import { MailServerAway } from '../imap/connection.ts'
import { listOf, pairsOf, readTokens, textOfToken } from '../imap/tokens.ts'
import { emailIdOf } from '../index/ids.ts'
import type { OpenMail } from '../index/open-mail.ts'
import * as uploads from './blobs.repository.ts'

/** A download reads this much at once from the mail server. */
export const PIECE_BYTES = 1024 * 1024

/** Runs work with the connection of the account, in turn with its requests. */
export type Turn = <Result>(work: (mail: OpenMail) => Promise<Result>) => Promise<Result>

/** The pieces of an upload. */
export async function* uploadPieces(db: Db, id: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number++) {
    const piece = await uploads.findPiece(db, id, number)
    if (!piece) return
    yield piece.bytes
  }
}

/**
 * The bytes of a message, from an offset. Each piece is a turn of its own: a slow reader keeps neither
 * the connection nor the requests of the account.
 */
export async function* emailPieces(
  db: Db,
  turn: Turn,
  emailId: string,
  from = 0,
): AsyncGenerator<Buffer> {
  for (let offset = from; ; offset += PIECE_BYTES) {
    const piece = await turn((mail) => readPiece(db, mail, emailId, offset))
    if (!piece && offset === from) return
    // The client notices that the answer has no end.
    if (!piece) throw new MailServerAway('the message was removed while it was downloaded')
    if (piece.length > 0) yield piece
    if (piece.length < PIECE_BYTES) return
  }
}

/** The GUID says whether the UID still belongs to this message. */
async function readPiece(db: Db, mail: OpenMail, emailId: string, offset: number) {
  const place = await uploads.findPlace(db, mail.account.id, emailId)
  if (!place) return undefined
  const imap = await mail.imap()
  await imap.read(place.path)
  const { responses } = await imap.command(
    `UID FETCH ${place.uid} (UID X-GUID BODY.PEEK[]<${offset}.${PIECE_BYTES}>)`,
    { literal: PIECE_BYTES },
  )
  for (const { text, literals } of responses) {
    const items = pairsOf(listOf(readTokens(text, literals)[3]))
    if (emailIdOf(textOfToken(items.get('X-GUID'))) !== emailId) continue
    const body = items.get(`BODY[]<${offset}>`)
    return Buffer.isBuffer(body) ? body : Buffer.from(textOfToken(body), 'latin1')
  }
  return undefined
}

/** Leaves out the bytes before `from` and from `to` on. */
export async function* between(
  pieces: AsyncGenerator<Buffer>,
  from: number,
  to: number,
): AsyncGenerator<Buffer> {
  let at = 0
  for await (const piece of pieces) {
    const wanted = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
    if (wanted.length > 0) yield wanted
    at += piece.length
    if (at >= to) return
  }
}
