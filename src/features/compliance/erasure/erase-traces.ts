import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import { SieveNotConfigured } from '../../../mail/managesieve/errors.ts'
import { endAllOf } from '../exports/exports.repository.ts'
import { removeSealed } from '../exports/sealed-file.ts'
import type { Add, Person } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

const AT_ONCE = 1000

/** Filter scripts hold addresses and letters of absence. */
export async function eraseRules({ db, sieve }: Core, { email }: Person, add: Add) {
  try {
    const removed = await sieve.session(email, async (session) => {
      const scripts = await session.list()
      if (scripts.some(({ active }) => active)) await session.activate('')
      for (const { name } of scripts) await session.remove(name)
      return scripts.length
    })
    await add(db, { scripts: removed })
  } catch (error) {
    if (!(error instanceof SieveNotConfigured)) throw error
  }
}

export async function eraseExports({ config, db }: Core, { email }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    const names = await endAllOf(tx, email)
    removeSealed(config.DATA_DIR, names)
    await add(tx, { archives: names.length })
  })
}

/** Messages that were held back, from the person or to them, and blocks of theirs. */
export async function eraseQuarantine({ db }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows: messages } = await tx
      .deleteFrom('quarantine')
      .where('organization_id', '=', organization_id)
      .where(({ or, eb }) => or([eb('sender', '=', email), eb('recipient', '=', email)]))
      .executeTakeFirst()
    const { numDeletedRows: suppressions } = await tx
      .deleteFrom('suppressions')
      .where('organization_id', '=', organization_id)
      .where('email', '=', email)
      .executeTakeFirst()
    await add(tx, { messages: Number(messages), suppressions: Number(suppressions) })
  })
}

/**
 * The log stays, for whoever it is about beside this person: their name in it becomes a pseudonym that
 * only the holder of the root key could tell, and what was written about goes.
 */
export async function eraseMailLog({ db, vault }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  const pseudonym = pseudonymOf(vault, email)
  const renamed = (column: string) =>
    sql`case when ${sql.ref(column)} = ${email} then ${pseudonym} else ${sql.ref(column)} end`
  // Senders and recipients have an index; a login without either is looked for once.
  const columns = ['sender', 'recipient', 'original_recipient', 'sasl_username'] as const
  for (const column of columns) {
    const own = column === 'sasl_username' ? sql`organization_id = ${organization_id}` : sql`true`
    for (;;) {
      const rows = await db.transaction().execute(async (tx) => {
        const { numAffectedRows = 0n } = await sql`
          update mail_log set sender = ${renamed('sender')}, recipient = ${renamed('recipient')},
            original_recipient = ${renamed('original_recipient')},
            sasl_username = ${renamed('sasl_username')}, subject = null, bounce_reason = null
          where id in (select id from mail_log
            where ${sql.ref(column)} = ${email} and ${own} limit ${AT_ONCE})`.execute(tx)
        await add(tx, { rows: Number(numAffectedRows) })
        return Number(numAffectedRows)
      })
      if (rows < AT_ONCE) break
    }
  }
}

export async function eraseLogins({ db }: Core, { email, account_id }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    const failed = await tx
      .deleteFrom('failed_auth_attempts')
      .where('username', '=', email)
      .executeTakeFirst()
    const sessions = await tx
      .deleteFrom('sessions')
      .where('email_account_id', '=', account_id)
      .executeTakeFirst()
    await add(tx, {
      failed_logins: Number(failed.numDeletedRows),
      sessions: Number(sessions.numDeletedRows),
    })
  })
}

export async function eraseConsents({ db }: Core, { email }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom('consents')
      .where('user_email', '=', email)
      .executeTakeFirst()
    await add(tx, { records: Number(numDeletedRows) })
  })
}
