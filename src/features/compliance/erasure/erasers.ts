import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { eraseFromIndex } from '../../rag/rag.compliance.ts'
import { eraseEvents, eraseMigrations } from './erase-events.ts'
import { eraseMail } from './erase-mail.ts'
import { eraseMailbox } from './erase-mailbox.ts'
import * as records from './erase-records.ts'
import * as traces from './erase-traces.ts'

export interface Person {
  email: string
  account_id: string
  organization_id: string
}

/** Adds to the proof of what was removed; in the transaction that removes it, where there is one. */
export type Add = (db: Db, counts: Record<string, number>) => Promise<void>

/**
 * Removes one kind of data of a person. It may be run again after a kill, and throws when it cannot
 * be done now; it is then tried again.
 */
export interface Eraser {
  /** Under this name its counts stand in the proof. */
  name: string
  erase(core: Core, person: Person, add: Add): Promise<void>
}

/**
 * All there are, in this order. A feature that keeps something about people adds its own here,
 * before the mailbox itself: without that, Dovecot no longer knows where its mail is.
 */
export const erasers: readonly Eraser[] = [
  { name: 'mail', erase: eraseMail },
  { name: 'rules', erase: traces.eraseRules },
  { name: 'exports', erase: traces.eraseExports },
  { name: 'quarantine', erase: traces.eraseQuarantine },
  { name: 'mail_log', erase: traces.eraseMailLog },
  { name: 'complaints', erase: records.eraseComplaints },
  { name: 'dlp_violations', erase: records.eraseViolations },
  { name: 'tracking', erase: records.eraseTracking },
  { name: 'logins', erase: traces.eraseLogins },
  { name: 'consents', erase: traces.eraseConsents },
  { name: 'migrations', erase: eraseMigrations },
  { name: 'events', erase: eraseEvents },
  {
    name: 'search_index',
    erase: ({ db }, person, add) =>
      db.transaction().execute(async (tx) => {
        await add(tx, { documents: await eraseFromIndex(tx, person) })
      }),
  },
  { name: 'mailbox', erase: eraseMailbox },
]
