import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { FoundCertificate } from '../inventory/certificate-file.ts'
import type { NextKey } from './host-key.ts'

/** Stores the data of an issued certificate. */
export const setIssued = (
  tx: Tx,
  id: string,
  issued: FoundCertificate,
  { content, nextKey, now }: { content: Buffer; nextKey: NextKey | undefined; now: Date },
) =>
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
      key_hash: issued.key_hash,
      next_key_hash: nextKey?.hash ?? null,
      sealed_content: content,
      sealed_next_key: nextKey?.sealed ?? null,
      self_signed: issued.self_signed,
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()

/** Stores why an order failed. After the last attempt a certificate without a file becomes `failed`. */
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
