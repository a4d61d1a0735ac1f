import { sql } from 'kysely'
import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

export interface Mail {
  sender: string
  recipient: string
  status: string
  at: Date
  organizationId?: string | null
  spamScore?: number | null
}

/** Rows of the mail log, as somebody might write them by hand: all in one statement. */
export async function storeMail({ core: { db } }: App, mails: Mail[]): Promise<void> {
  const rows = mails.map(({ sender, recipient, status, at, organizationId, spamScore }) => ({
    id: ulid(),
    timestamp: at.toISOString(),
    sender,
    recipient,
    status,
    organization_id: organizationId ?? null,
    spam_score: spamScore ?? null,
  }))
  await sql`
    insert into mail_log (id, "timestamp", sender, recipient, status, organization_id, spam_score)
    select * from json_to_recordset(${rows}::json) as rows (id text, "timestamp" timestamptz,
      sender text, recipient text, status text, organization_id text, spam_score float8)`.execute(
    db,
  )
}

/** The same numbers in every run. */
export function chance(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
