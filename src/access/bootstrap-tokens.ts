import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
 * The tokens of the two bootstraps. The file is for the person on the machine; the hash in the
 * database is what counts, so that any process can take the call.
 */
export function bootstrapTokens({ db, config }: Pick<Core, 'db' | 'config'>) {
  const fileOf = (kind: Bootstrap) => join(config.DATA_DIR, FILES[kind])
  const removeFile = (kind: Bootstrap) => rmSync(fileOf(kind), { force: true })

  return {
    fileOf,

    /** At start: a new token while there is nobody to sign in as, otherwise none. */
    async prepare(): Promise<Bootstrap[]> {
      const offered: Bootstrap[] = []
      for (const [kind, table] of [
        ['organization', 'api_keys'],
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

    /** Once somebody exists the answer is 409 whatever the token; before that the token decides. */
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

    /** In the transaction of the bootstrap: no token of this kind works again. */
    spend: (tx: Db, kind: Bootstrap) =>
      tx.deleteFrom('bootstrap_tokens').where('kind', '=', kind).execute(),

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
