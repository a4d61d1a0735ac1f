/*
 * What is known about long lists from a moment ago. To skip rows PostgreSQL walks over them, and to
 * count what a search finds it reads them all; a list is paged through, so the next request asks for
 * nearly the same again. Deep pages and totals of broad searches may be this much behind:
 */
const FRESH_MS = 10_000
const LISTS = 256
const MARKS = 64

/** The row that stands before this offset. `value` is the column that is sorted by, as text. */
export interface Mark {
  offset: number
  value: string
  id: string
}

/** Where rows of a list stood. */
export function markedLists(now = Date.now) {
  const lists = new Map<string, { since: number; marks: Mark[] }>()

  function freshList(list: string) {
    const known = lists.get(list)
    if (known && now() - known.since < FRESH_MS) return known
    lists.delete(list)
    return undefined
  }

  return {
    /** The last known place at or before this offset. */
    before(list: string, offset: number): Mark | undefined {
      let nearest: Mark | undefined
      for (const mark of freshList(list)?.marks ?? []) {
        if (mark.offset <= offset && mark.offset > (nearest?.offset ?? -1)) nearest = mark
      }
      return nearest
    },
    /** Places found from older ones are as old as those: the whole list is forgotten at once. */
    add(list: string, mark: Mark): void {
      const known = freshList(list)
      if (!known) {
        makeRoom(lists)
        lists.set(list, { since: now(), marks: [mark] })
      } else if (!known.marks.some(({ offset }) => offset === mark.offset)) {
        known.marks.push(mark)
        if (known.marks.length > MARKS) known.marks.shift()
      }
    },
  }
}

/** How many rows a search found, and among how many. */
export interface Found {
  total: number
  everything: number
}

/** Totals of searches; who asks while another is counting waits for that count. */
export function countedSearches(now = Date.now) {
  const searches = new Map<string, { since: number; found: Promise<Found | undefined> }>()

  return {
    async known(search: string): Promise<Found | undefined> {
      const entry = searches.get(search)
      if (entry && now() - entry.since < FRESH_MS) return entry.found
      searches.delete(search)
      return undefined
    },
    /** Remembers what the count says, unless that is nothing to remember or it fails. */
    learn(search: string, counting: Promise<Found | undefined>): void {
      makeRoom(searches)
      const entry = { since: now(), found: counting.catch(() => undefined) }
      searches.set(search, entry)
      void entry.found.then((found) => {
        if (found === undefined && searches.get(search) === entry) searches.delete(search)
      })
    },
  }
}

/** The oldest goes first. */
function makeRoom(entries: Map<string, unknown>): void {
  const [oldest] = entries.keys()
  if (entries.size >= LISTS && oldest !== undefined) entries.delete(oldest)
}
