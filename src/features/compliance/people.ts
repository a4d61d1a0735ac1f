import type { Db } from '../../database/database.ts'
import type { PastDays } from '../../hosting/past-days.ts'
import { IsSharedMailbox, NothingStored } from './compliance.errors.ts'
import { findPerson, isSharedMailbox } from './people.repository.ts'
import type { Person } from './personal-data/personal-table.ts'
import { isKnown } from './personal-data/records.repository.ts'

/** A person with a mailbox, or about whom anything else is stored. */
export async function knownPerson(db: Db, past: PastDays, email: string): Promise<Person> {
  const person = await findPerson(db, email)
  if (person.account_id !== null) return person
  if (await isSharedMailbox(db, email)) throw new IsSharedMailbox(email)
  if (!(await isKnown(db, past, person))) throw new NothingStored(email)
  return person
}
