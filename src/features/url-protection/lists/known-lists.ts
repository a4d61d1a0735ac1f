import type { Core } from '../../../core.ts'
import { type EntrySet, entrySet, type ListRow } from './entry-set.ts'
import { allEntries, entriesOf } from './lists.repository.ts'

const NOTHING = entrySet([])

/** All lists in memory, so that a click needs no database. The operator's list has the name ''. */
export function knownLists({ db }: Pick<Core, 'db'>) {
  let lists = new Map<string, EntrySet>()
  return {
    of: (name: string): EntrySet => lists.get(name) ?? NOTHING,
    async loadAll(): Promise<void> {
      const rows = new Map<string, ListRow[]>()
      for await (const { organization_id, entry_type, entry } of allEntries(db)) {
        const name = organization_id ?? ''
        const list = rows.get(name)
        if (list) list.push({ entry_type, entry })
        else rows.set(name, [{ entry_type, entry }])
      }
      lists = new Map([...rows].map(([name, list]) => [name, entrySet(list)]))
    },
    async load(name: string): Promise<void> {
      const rows = await entriesOf(db, name === '' ? null : name)
      if (rows.length === 0) lists.delete(name)
      else lists.set(name, entrySet(rows))
    },
  }
}
