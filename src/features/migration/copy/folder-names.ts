/** A folder as its server lists it. */
export interface Listed {
  path: string
  delimiter: string
  /** Such as `\Sent`, from the server or guessed from the name. */
  specialUse?: string | undefined
}

interface Tree {
  folders: readonly Listed[]
  /** The prefix of the user's own folders, such as `INBOX.`; mostly empty. */
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

// These folders show messages of other folders, which would be copied twice.
const VIEWS = new Set(['\\All', '\\Flagged'])

/** Maps folders: by the request, else to the folder of the same special use, else by name. */
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
  const byUse = new Map<string, string>()
  for (const folder of source.folders) {
    const same = folder.specialUse && uses.get(folder.specialUse)
    if (same && !VIEWS.has(folder.specialUse ?? ''))
      byUse.set(key(partsOf(folder.path, source)), same)
  }

  const routes: Route<Folder>[] = []
  for (const folder of source.folders) {
    const parts = partsOf(folder.path, source)
    const own = key(parts)
    if (excluded.some((one) => own === one || own.startsWith(`${one}\0`))) continue
    const requested = nearest(parts, wished)
    if (requested === undefined && VIEWS.has(folder.specialUse ?? '')) continue
    const match = requested ?? nearest(parts, byUse)
    const path = match ? [partsOf(match.path, target), parts.slice(match.depth)].flat() : parts
    routes.push({ source: folder, targetPath: joined(path, target) })
  }
  return routes
}

/** The target of the folder itself or of its nearest parent in `targets`. */
function nearest(parts: readonly string[], targets: ReadonlyMap<string, string>) {
  for (let depth = parts.length; depth > 0; depth--) {
    const path = targets.get(key(parts.slice(0, depth)))
    if (path !== undefined) return { path, depth }
  }
  return undefined
}

/** INBOX is case-insensitive (RFC 3501 §5.1); other names are not. */
const key = (parts: readonly string[]): string =>
  parts.map((part, index) => (index === 0 && isInbox(part) ? 'INBOX' : part)).join('\0')

const isInbox = (name: string) => name.toUpperCase() === 'INBOX'

/** The names from the top down, without the prefix. Requests may use a slash as separator. */
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
  // A name may contain the separator of the other server.
  const names = delimiter === '' ? parts : parts.map((part) => part.replaceAll(delimiter, '_'))
  const path = names.join(delimiter || '_')
  return prefix === '' || path.startsWith(prefix) ? path : prefix + path
}
