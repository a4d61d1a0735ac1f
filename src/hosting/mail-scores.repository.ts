import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** The mail log keeps so many characters of a Message-ID. */
const MAX_MESSAGE_ID = 255

export const keepScore = (
  db: Db,
  mail: { messageId: string; organizationId: string; score: number },
  now: Date,
) => {
  const at = now.toISOString()
  return db
    .insertInto('mail_scores')
    .values({
      message_id: mail.messageId.slice(0, MAX_MESSAGE_ID),
      organization_id: mail.organizationId,
      score: mail.score,
      scanned_at: at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['message_id', 'organization_id'])
        .doUpdateSet({ score: mail.score, scanned_at: at }),
    )
    .execute()
}

export interface Score {
  message_id: string
  organization_id: string
  score: number
}

export async function scoresOf(db: Db, messageIds: readonly string[]): Promise<Score[]> {
  if (messageIds.length === 0) return []
  const { rows } = await sql<Score>`
    select message_id, organization_id, score from mail_scores
    where message_id = any(${[...messageIds]}::text[])`.execute(db)
  return rows
}

export const deleteScoresBefore = (db: Db, before: Date) =>
  db.deleteFrom('mail_scores').where('scanned_at', '<', before.toISOString()).execute()
