import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import { SieveNotConfigured } from '../../../mail/managesieve/errors.ts'
import { deleteAllOf } from '../exports/exports.repository.ts'
import { findMailbox, hasMail } from '../people.repository.ts'
import type { Person } from '../personal-data/personal-table.ts'
import type { Add } from './erasers.ts'

/** Filter scripts contain e-mail addresses and vacation messages. */
export async function eraseRules({ db, sieve }: Core, { email, account_id }: Person, add: Add) {
  if (account_id === null || (await findMailbox(db, email))?.id !== account_id) return
  if (!(await hasMail(db, email))) return
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

export async function eraseExports({ db }: Core, { email }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    await add(tx, { archives: await deleteAllOf(tx, email) })
  })
}

/** Takes the person off the recipients of reports; a report without recipients and webhook is deleted. */
export async function eraseReports({ db }: Core, { email }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    const { numAffectedRows: deleted = 0n } = await sql`
      delete from analytics_schedules
      where recipients @> array[${email}] and webhook_url is null
        and array_remove(recipients, ${email}) = '{}'`.execute(tx)
    const { numAffectedRows: changed = 0n } = await sql`
      update analytics_schedules
      set recipients = array_remove(recipients, ${email}), last_error = null
      where recipients @> array[${email}]`.execute(tx)
    await add(tx, { schedules: Number(deleted + changed) })
  })
}

/** Deletes the migration jobs of the mailbox: they name it, its remote account and its folders. */
export async function eraseMigrations({ db }: Core, { email }: Person, add: Add) {
  await db.transaction().execute(async (tx) => {
    await sql`
      delete from migration_pairs where id in (select pair_id from migration_jobs
        where mailbox = ${email} or remote_username = ${email})`.execute(tx)
    const { numDeletedRows } = await tx
      .deleteFrom('migration_jobs')
      .where(({ or, eb }) => or([eb('mailbox', '=', email), eb('remote_username', '=', email)]))
      .executeTakeFirst()
    await add(tx, { jobs: Number(numDeletedRows) })
  })
}
