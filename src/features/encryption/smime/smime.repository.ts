import { type Insertable, sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { keyRepository } from '../key-store.repository.ts'

export const certificates = keyRepository(
  'smime_certificates',
  [
    'subject',
    'issuer',
    'serial',
    'can_sign',
    'not_before',
    // Never null, unlike those of an OpenPGP key.
    sql<number>`key_length`.as('key_length'),
    sql<string>`expires_at`.as('expires_at'),
  ],
  ['certificate', 'chain'],
)

/** A certificate that the address has already is brought up to date. */
export const saveCertificate = (
  tx: Tx,
  { id, created_at, ...row }: Insertable<Tables['smime_certificates']>,
) =>
  tx
    .insertInto('smime_certificates')
    .values({ ...row, id, created_at })
    .onConflict((same) => same.constraint('smime_certificates_once').doUpdateSet(row))
    .execute()
