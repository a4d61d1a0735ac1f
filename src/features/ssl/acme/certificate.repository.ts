import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { FoundCertificate } from '../inventory/certificate-file.ts'

/** What an order has brought. */
export const setIssued = (tx: Tx, id: string, issued: FoundCertificate, now: Date) =>
  tx
    .updateTable('certificates')
    .set({
      status: 'active',
      names: issued.names,
      issuer: issued.issuer,
      algorithm: issued.algorithm,
      key_size: issued.key_size,
      error_message: null,
      valid_from: issued.valid_from?.toISOString() ?? null,
      valid_until: issued.valid_until?.toISOString() ?? null,
      issued_at: now.toISOString(),
      last_renewed: sql`case when fingerprint is null then last_renewed
        else ${now.toISOString()}::timestamptz end`,
      fingerprint: issued.fingerprint,
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()

/** One that lies there stays what it is; where there is none, a last failure says so. */
export const setProblem = (tx: Tx, id: string, problem: string, isLast: boolean, now: Date) =>
  tx
    .updateTable('certificates')
    .set({
      error_message: problem,
      ...(isLast && {
        status: sql<'failed'>`case when fingerprint is null then 'failed' else status end`,
      }),
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()
