import type { PersonalTable } from './personal-table.ts'
import { tablesOfAccounts } from './tables-of-accounts.ts'
import { tablesOfActors } from './tables-of-actors.ts'
import { tablesOfArchive } from './tables-of-archive.ts'
import { tablesOfJmap } from './tables-of-jmap.ts'
import { tablesOfMail } from './tables-of-mail.ts'
import { tablesThatStay } from './tables-that-stay.ts'

/**
 * Every table with data about people: how the rows of a person are found, exported and erased, or why they
 * stay, and how all rows end with time. Exports and erasures follow it. register.test.ts compares it with the schema of the database, so a
 * new column has to be listed here or in tables-without.ts.
 */
export const register: readonly PersonalTable[] = [
  ...tablesOfMail,
  ...tablesOfArchive,
  ...tablesOfJmap,
  ...tablesOfAccounts,
  ...tablesOfActors,
  ...tablesThatStay,
]
