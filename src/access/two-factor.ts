import { randomInt } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { sha256 } from '../lib/tokens.ts'
import { matchingStep, otpauthUri, totpSecret } from '../lib/totp.ts'

const PURPOSE = 'totp secret'
const BACKUP_CODES = 8
const BACKUP_CODE_LENGTH = 8
// Without letters and digits that are easily confused.
const BACKUP_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** The owner of a second factor; an operator, a user and a mailbox may have the same address. */
export interface Holder {
  kind: 'operator' | 'mailbox' | 'user'
  id: string
}

export type TwoFactor = ReturnType<typeof twoFactor>

export function twoFactor({ vault, now, config }: Pick<Core, 'vault' | 'now' | 'config'>) {
  const rowOf = (db: Db, { kind, id }: Holder) =>
    db
      .selectFrom('totp_enrollments')
      .select(['secret', 'confirmed_at', 'last_step'])
      .where('kind', '=', kind)
      .where('subject_id', '=', id)
      .executeTakeFirst()

  const change = (db: Db, { kind, id }: Holder) =>
    db.updateTable('totp_enrollments').where('kind', '=', kind).where('subject_id', '=', id)

  return {
    async isEnrolled(db: Db, holder: Holder): Promise<boolean> {
      const row = await rowOf(db, holder)
      return row?.confirmed_at != null
    },

    /** Pending: a secret was handed out, but no code has proved yet that it arrived. */
    async status(db: Db, { kind, id }: Holder) {
      const row = await db
        .selectFrom('totp_enrollments')
        .select(['confirmed_at', sql<number>`jsonb_array_length(backup_code_hashes)`.as('codes')])
        .where('kind', '=', kind)
        .where('subject_id', '=', id)
        .executeTakeFirst()
      const enabled = row?.confirmed_at != null
      return {
        enabled,
        pending: row !== undefined && !enabled,
        enabledAt: row?.confirmed_at ?? null,
        backupCodesLeft: enabled ? (row?.codes ?? 0) : 0,
      }
    },

    /** Replaces an unconfirmed secret; returns undefined when one is confirmed. */
    async begin(db: Db, holder: Holder, account: string) {
      const secret = totpSecret()
      const backupCodes = newBackupCodes()
      const fresh = {
        secret: vault.seal(PURPOSE, secret),
        backup_code_hashes: backupCodes.map(sha256),
        last_step: 0,
      }
      const stored = await db
        .insertInto('totp_enrollments')
        .values({ kind: holder.kind, subject_id: holder.id, ...fresh })
        .onConflict((conflict) =>
          conflict
            .columns(['kind', 'subject_id'])
            .doUpdateSet(fresh)
            .where('totp_enrollments.confirmed_at', 'is', null),
        )
        .returning('kind')
        .executeTakeFirst()
      if (!stored) return undefined
      return {
        secret,
        otpauth_uri: otpauthUri(config.SVC_MFA_ISSUER, account, secret),
        backup_codes: backupCodes,
        digits: 6,
        period: 30,
        algorithm: 'SHA1',
      }
    },

    /**
     * Consumes a code. The first correct one confirms the enrolment; backup codes work from then on.
     * Of two requests with the same code, the update lets one succeed.
     */
    async spend(db: Db, holder: Holder, code: string): Promise<boolean> {
      const row = await rowOf(db, holder)
      if (!row) return false
      if (/^\d{6}$/.test(code)) {
        const secret = vault.open(PURPOSE, row.secret)
        const step = matchingStep(secret, code, now(), row.last_step)
        if (step === undefined) return false
        const { numUpdatedRows } = await change(db, holder)
          .set({
            last_step: step,
            confirmed_at: sql`coalesce(confirmed_at, ${now().toISOString()})`,
          })
          .where('last_step', '<', step)
          .executeTakeFirstOrThrow()
        return numUpdatedRows === 1n
      }
      const hash = sha256(code.trim().toUpperCase())
      const { numUpdatedRows } = await change(db, holder)
        .set({ backup_code_hashes: sql`backup_code_hashes - ${hash}::text` })
        .where('confirmed_at', 'is not', null)
        .where(sql<SqlBool>`backup_code_hashes ? ${hash}::text`)
        .executeTakeFirstOrThrow()
      return numUpdatedRows === 1n
    },

    /** New backup codes instead of those that are left; undefined while no second factor is confirmed. */
    async renewBackupCodes(db: Db, holder: Holder): Promise<string[] | undefined> {
      const backupCodes = newBackupCodes()
      const { numUpdatedRows } = await change(db, holder)
        .set({ backup_code_hashes: backupCodes.map(sha256) })
        .where('confirmed_at', 'is not', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows === 1n ? backupCodes : undefined
    },

    /** Returns whether a second factor was removed. */
    async reset(db: Db, { kind, id }: Holder): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('totp_enrollments')
        .where('kind', '=', kind)
        .where('subject_id', '=', id)
        .executeTakeFirstOrThrow()
      return numDeletedRows > 0n
    },
  }
}

const newBackupCodes = () => Array.from({ length: BACKUP_CODES }, backupCode)

const backupCode = (): string =>
  Array.from(
    { length: BACKUP_CODE_LENGTH },
    () => BACKUP_ALPHABET[randomInt(BACKUP_ALPHABET.length)],
  ).join('')
