import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import { eraseBatch } from '../../archive/archive.compliance.ts'
import { eraseFromIndex } from '../../rag/rag.compliance.ts'
import { erasePast } from '../personal-data/past-mail.ts'
import type { Person } from '../personal-data/personal-table.ts'
import { eraseEvents } from './erase-events.ts'
import { eraseDeletedMail, eraseMail } from './erase-mail.ts'
import { eraseMailbox } from './erase-mailbox.ts'
import { recordErasers } from './erase-records.ts'
import * as traces from './erase-traces.ts'
import { pseudonymOf } from './pseudonym.ts'

/** Adds counts to the proof of erasure, in the transaction that removes the data where there is one. */
export type Add = (db: Db, counts: Record<string, number>) => Promise<void>

/**
 * Removes one kind of data of a person. It must be safe to run again after a crash. When it throws, the
 * erasure is retried later.
 */
export interface Eraser {
  /** Key of its counts in the proof of erasure; several erasers may share it. */
  name: string
  erase(core: Core, person: Person, add: Add): Promise<void>
}

/**
 * Runs in this order. The register of personal data says which tables each of them covers. The mailbox
 * comes after all that needs its row; then the files that it leaves on disk.
 */
export const erasers: readonly Eraser[] = [
  { name: 'mail', erase: eraseMail },
  { name: 'rules', erase: traces.eraseRules },
  { name: 'exports', erase: traces.eraseExports },
  ...recordErasers,
  { name: 'mail_log', erase: erasePastLog },
  { name: 'reports', erase: traces.eraseReports },
  { name: 'migrations', erase: traces.eraseMigrations },
  { name: 'events', erase: eraseEvents },
  {
    name: 'search_index',
    erase: ({ db }, person, add) =>
      db.transaction().execute(async (tx) => {
        await add(tx, { documents: await eraseFromIndex(tx, person) })
      }),
  },
  { name: 'archive', erase: eraseArchive },
  { name: 'mailbox', erase: eraseMailbox },
  { name: 'deleted_mail', erase: eraseDeletedMail },
]

/** After the rows in PostgreSQL, so that a day which moves meanwhile is not missed. */
async function erasePastLog(core: Core, person: Person, add: Add): Promise<void> {
  const rows = await erasePast(pastDays(core), person, pseudonymOf(core.vault, person.email))
  if (rows > 0) await add(core.db, { rows })
}

async function eraseArchive({ db, vault }: Core, person: Person, add: Add): Promise<void> {
  const pseudonym = pseudonymOf(vault, person.email)
  for (;;) {
    const found = await db.transaction().execute(async (tx) => {
      const batch = await eraseBatch(tx, person, pseudonym)
      await add(tx, { messages: batch.deleted, renamed: batch.found - batch.deleted })
      return batch.found
    })
    if (found === 0) return
  }
}
