import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { defineError } from '../errors.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'

export type Bootstrap = 'organization' | 'operator'

const FILES: Record<Bootstrap, string> = {
  organization: 'bootstrap-token',
  operator: 'operator-bootstrap-token',
}

export const AlreadyBootstrapped = defineError<Bootstrap>({
  status: 409,
  message: (kind) => `Already bootstrapped -- an ${kind} already exists`,
})
const NotAvailable = defineError<Bootstrap>({
  status: 409,
  message: (kind) => `${kind === 'operator' ? 'Operator bootstrap' : 'Bootstrap'} is not available`,
})
export const InvalidBootstrapToken = defineError({
  status: 401,
  message: 'Invalid bootstrap token',
})

export type BootstrapTokens = ReturnType<typeof bootstrapTokens>

/**
 * The tokens of the two bootstraps. The administrator reads the token from a file; requests are
 * checked against the hash in the database, so that any process can serve them.
 */
export function bootstrapTokens({ db, config }: Pick<Core, 'db' | 'config'>) {
  const fileOf = (kind: Bootstrap) => join(config.DATA_DIR, FILES[kind])
  const removeFile = (kind: Bootstrap) => rmSync(fileOf(kind), { force: true })

  return {
    fileOf,

    /** Creates a token at start while `verify` would accept one; a platform key changes nothing. */
    async prepare(): Promise<Bootstrap[]> {
      const offered: Bootstrap[] = []
      for (const [kind, table] of [
        ['organization', 'organizations'],
        ['operator', 'operators'],
      ] as const) {
        const before = readToken(fileOf(kind))
        if (before) await forget(db, sha256(before))
        removeFile(kind)
        if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) continue
        const token = randomToken()
        await db
          .insertInto('bootstrap_tokens')
          .values({ kind, token_hash: sha256(token) })
          .execute()
        writeFileSync(fileOf(kind), `${token}\n`, { mode: 0o600 })
        offered.push(kind)
      }
      return offered
    },

    /** Returns whether an account of this kind can still be created, by the rules of `verify`. */
    async isOpen(kind: Bootstrap): Promise<boolean> {
      const table = kind === 'organization' ? 'organizations' : 'operators'
      if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) return false
      const token = await db
        .selectFrom('bootstrap_tokens')
        .select('kind')
        .where('kind', '=', kind)
        .limit(1)
        .executeTakeFirst()
      return token !== undefined
    },

    /** Throws 409 for any token when an account exists, and otherwise checks the token. */
    async verify(kind: Bootstrap, token: string | undefined): Promise<void> {
      const table = kind === 'organization' ? 'organizations' : 'operators'
      if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) {
        throw new AlreadyBootstrapped(kind)
      }
      const tokens = await db
        .selectFrom('bootstrap_tokens')
        .select('token_hash')
        .where('kind', '=', kind)
        .execute()
      if (tokens.length === 0) throw new NotAvailable(kind)
      const hash = sha256(token ?? '')
      if (!tokens.some(({ token_hash }) => token_hash === hash)) throw new InvalidBootstrapToken()
    },

    /** In the transaction of the bootstrap. Other processes then delete their token file. */
    async spend(tx: Db, kind: Bootstrap): Promise<void> {
      await tx.deleteFrom('bootstrap_tokens').where('kind', '=', kind).execute()
      await sql`select pg_notify('mailplane_access', ${`bootstrapped:${kind}`})`.execute(tx)
    },

    removeFile,
  }
}

const forget = (db: Db, tokenHash: string) =>
  db.deleteFrom('bootstrap_tokens').where('token_hash', '=', tokenHash).execute()

const readToken = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
