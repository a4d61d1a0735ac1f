/** A folder as its server lists it. */
export interface Listed {
  path: string
  delimiter: string
  /** Such as `\Sent`, told by the server or by the name. */
  specialUse?: string | undefined
}

export interface Tree {
  folders: readonly Listed[]
  /** What the server puts before the names of one's own folders, such as `INBOX.`; mostly nothing. */
  prefix: string
  delimiter: string
}

export interface Wishes {
  mapping: readonly { source: string; target: string }[]
  exclude: readonly string[]
}

export interface Route<Folder extends Listed> {
  source: Folder
  targetPath: string
}

// They show messages that are in other folders too, and would copy each of them twice.
const VIEWS = new Set(['\\All', '\\Flagged'])

/** Which folder goes where. Without a wish: to the folder of the same use, or else of the same name. */
export function routesOf<Folder extends Listed>(
  source: Tree & { folders: readonly Folder[] },
  target: Tree,
  { mapping, exclude }: Wishes,
): Route<Folder>[] {
  const wished = new Map(mapping.map((one) => [key(partsOf(one.source, source)), one.target]))
  const excluded = exclude.map((path) => key(partsOf(path, source)))
  const uses = new Map(
    target.folders.flatMap(({ path, specialUse }) => (specialUse ? [[specialUse, path]] : [])),
  )
  const bySource = new Map<string, string>()
  for (const folder of source.folders) {
    const same = folder.specialUse && uses.get(folder.specialUse)
    if (same && !VIEWS.has(folder.specialUse ?? ''))
      bySource.set(key(partsOf(folder.path, source)), same)
  }

  const routes: Route<Folder>[] = []
  for (const folder of source.folders) {
    const parts = partsOf(folder.path, source)
    const own = key(parts)
    if (excluded.some((one) => own === one || own.startsWith(`${one}\0`))) continue
    const asked = nearest(parts, wished)
    if (asked === undefined && VIEWS.has(folder.specialUse ?? '')) continue
    const known = asked ?? nearest(parts, bySource)
    const path = known ? [partsOf(known.path, target), parts.slice(known.depth)].flat() : parts
    routes.push({ source: folder, targetPath: joined(path, target) })
  }
  return routes
}

/** The folder itself, or the nearest one above it, that somebody has said something about. */
function nearest(parts: readonly string[], known: ReadonlyMap<string, string>) {
  for (let depth = parts.length; depth > 0; depth--) {
    const path = known.get(key(parts.slice(0, depth)))
    if (path !== undefined) return { path, depth }
  }
  return undefined
}

/** INBOX is INBOX in whatever case; all other names are as they are. */
const key = (parts: readonly string[]): string =>
  parts.map((part, index) => (index === 0 && isInbox(part) ? 'INBOX' : part)).join('\0')

const isInbox = (name: string) => name.toUpperCase() === 'INBOX'

/** From the top down, without the prefix. A slash separates in what people write, too. */
function partsOf(path: string, { prefix, delimiter }: Omit<Tree, 'folders'>): string[] {
  const own = prefix !== '' && path.startsWith(prefix) ? path.slice(prefix.length) : path
  if (delimiter === '') return [own]
  const separator = own.includes(delimiter) ? delimiter : '/'
  const parts = (delimiter === '/' ? own.split('/') : own.split(separator)).filter(
    (part) => part !== '',
  )
  return parts.length === 0 ? [path] : parts
}

function joined(parts: readonly string[], { prefix, delimiter }: Omit<Tree, 'folders'>): string {
  const [first = ''] = parts
  if (parts.length === 1 && isInbox(first)) return 'INBOX'
  // A name may hold what separates names on the other server.
  const names = delimiter === '' ? parts : parts.map((part) => part.replaceAll(delimiter, '_'))
  const path = names.join(delimiter || '_')
  return prefix === '' || path.startsWith(prefix) ? path : prefix + path
}
