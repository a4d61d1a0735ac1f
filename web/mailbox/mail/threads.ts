import { nameOf } from './addresses.ts'
import type { Address, Summary, Thread } from './types.ts'

/** A line of the message list: a thread, shown by the newest of its messages that match. */
export interface Row {
  newest: Summary
  count: number
  /** Messages of the thread in the folder that is shown; actions change these. */
  ids: string[]
  isUnread: boolean
  isFlagged: boolean
  people: Address[]
}

export type Member = Pick<Summary, 'id' | 'threadId' | 'keywords' | 'mailboxIds' | 'from'>

/** Without `members` (too many for one request) a row knows its newest message only. */
export function rowsOf(
  found: readonly Summary[],
  threads: readonly Thread[],
  members: readonly Member[] | undefined,
  folderId: string | undefined,
): Row[] {
  const byId = new Map(members?.map((member) => [member.id, member]))
  const byThread = new Map(threads.map((thread) => [thread.id, thread]))
  return found.map((newest) => {
    const ids = byThread.get(newest.threadId)?.emailIds ?? [newest.id]
    const known = ids.flatMap((id) => byId.get(id) ?? [])
    const own = known.length > 0 ? known : [newest]
    const here = own.filter(({ mailboxIds }) => !folderId || mailboxIds[folderId])
    const shown = here.length > 0 ? here : [newest]
    return {
      newest,
      count: ids.length,
      ids: shown.map(({ id }) => id),
      isUnread: shown.some(({ keywords }) => !keywords.$seen),
      isFlagged: shown.some(({ keywords }) => keywords.$flagged),
      people: peopleOf(own),
    }
  })
}

function peopleOf(members: readonly Pick<Summary, 'from'>[]): Address[] {
  const people = new Map<string, Address>()
  for (const { from } of members) {
    for (const person of from ?? []) {
      const key = person.email.toLowerCase()
      if (!people.has(key)) people.set(key, person)
    }
  }
  return [...people.values()]
}

const MAX_SHOWN = 3

/** "Ada, Bob, +2": several people by their first names, one by the whole name. */
export function shownPeople(people: readonly Address[]): string {
  if (people.length < 2) return people.map(nameOf).join('')
  const first = people.slice(0, MAX_SHOWN).map(({ name, email }) => {
    const plain = name?.replace(/^"|"$/g, '').trim()
    return plain && !plain.includes(',') ? (plain.split(/\s+/)[0] ?? email) : plain || email
  })
  const more = people.length - MAX_SHOWN
  return more > 0 ? `${first.join(', ')}, +${more}` : first.join(', ')
}
