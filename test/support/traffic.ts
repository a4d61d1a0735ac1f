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

/** Inserts rows of the mail log in one statement. */
export async function storeMail({ core: { db } }: App, mails: Mail[]): Promise<void> {
  const rows = mails.map(({ sender, recipient, status, at, organizationId, spamScore }) => ({
    id: ulid(),
    timestamp: at.toISOString(),
    sender,
    recipient,
    status,
    organization_id: organizationId ?? null,
    spam_score: spamScore ?? null,
    sasl_username: sender,
  }))
  await sql`
    insert into mail_log (id, "timestamp", sender, recipient, status, organization_id, spam_score,
      sasl_username)
    select * from json_to_recordset(${rows}::json) as rows (id text, "timestamp" timestamptz,
      sender text, recipient text, status text, organization_id text, spam_score float8, sasl_username text)`.execute(
    db,
  )
}

/** Pseudo-random numbers, identical in every run. */
export function chance(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
