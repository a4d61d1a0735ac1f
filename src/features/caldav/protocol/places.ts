export type Kind = 'calendar' | 'addressbook'

/** The resource of a path. Paths have the id of the account: a renamed mailbox keeps its calendars. */
export type Place =
  | { type: 'root' }
  | { type: 'principals' }
  | { type: 'homes'; kind: Kind }
  | { type: 'principal'; account: string }
  | { type: 'inbox' | 'outbox'; account: string }
  | { type: 'home'; kind: Kind; account: string }
  | { type: 'collection'; kind: Kind; account: string; uri: string }
  | { type: 'object'; kind: Kind; account: string; uri: string; name: string }

const ROOT = '/dav'
const FOLDERS: Record<Kind, string> = { calendar: 'calendars', addressbook: 'addressbooks' }
const KINDS: Record<string, Kind> = { calendars: 'calendar', addressbooks: 'addressbook' }
const MAX_SEGMENT = 255

/** Undefined for a path that names nothing: another root, too many segments, or unusable ones. */
export function placeOf(path: string): Place | undefined {
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return undefined
  const segments = path.slice(ROOT.length + 1).split('/')
  if (segments.at(-1) === '') segments.pop()
  const names: string[] = []
  for (const segment of segments) {
    const name = decoded(segment)
    if (name === undefined) return undefined
    names.push(name)
  }
  const [folder = '', account, uri, name, ...more] = names
  if (more.length > 0) return undefined
  if (names.length === 0) return { type: 'root' }
  if (folder === 'principals') {
    if (account === undefined) return { type: 'principals' }
    return uri === undefined ? { type: 'principal', account } : undefined
  }
  if (folder === 'scheduling') {
    const isBox = account !== undefined && (uri === 'inbox' || uri === 'outbox')
    return isBox && name === undefined ? { type: uri, account } : undefined
  }
  const kind = Object.hasOwn(KINDS, folder) ? KINDS[folder] : undefined
  if (!kind) return undefined
  if (account === undefined) return { type: 'homes', kind }
  if (uri === undefined) return { type: 'home', kind, account }
  if (name === undefined) return { type: 'collection', kind, account, uri }
  return { type: 'object', kind, account, uri, name }
}

/** Decodes a segment once. A separator, a relative step or a control character in it is refused. */
function decoded(segment: string): string | undefined {
  let name: string
  try {
    name = decodeURIComponent(segment)
  } catch {
    return undefined
  }
  const isUsable =
    name !== '' &&
    name !== '.' &&
    name !== '..' &&
    name.length <= MAX_SEGMENT &&
    name.isWellFormed() &&
    !/[/\\\p{Cc}]/u.test(name)
  return isUsable ? name : undefined
}

/** Keeps characters that RFC 3986 allows in a segment, because some clients compare paths as text. */
const segment = (name: string) =>
  encodeURIComponent(name).replace(/%(40|3A|2B|24|26|2C|3B|3D)/g, decodeURIComponent)

export const rootPath = `${ROOT}/`
export const principalsPath = `${ROOT}/principals/`
export const homesPath = (kind: Kind) => `${ROOT}/${FOLDERS[kind]}/`
export const principalPath = (account: string) => `${ROOT}/principals/${segment(account)}/`
export const boxPath = (type: 'inbox' | 'outbox', account: string) =>
  `${ROOT}/scheduling/${segment(account)}/${type}/`
export const homePath = (kind: Kind, account: string) =>
  `${ROOT}/${FOLDERS[kind]}/${segment(account)}/`
export const collectionPath = (kind: Kind, account: string, uri: string) =>
  `${homePath(kind, account)}${segment(uri)}/`
export const objectPath = (kind: Kind, account: string, uri: string, name: string) =>
  `${collectionPath(kind, account, uri)}${segment(name)}`

/** The path of a place, as answers name it. */
export function pathOf(place: Place): string {
  switch (place.type) {
    case 'root':
      return rootPath
    case 'principals':
      return principalsPath
    case 'homes':
      return homesPath(place.kind)
    case 'principal':
      return principalPath(place.account)
    case 'inbox':
    case 'outbox':
      return boxPath(place.type, place.account)
    case 'home':
      return homePath(place.kind, place.account)
    case 'collection':
      return collectionPath(place.kind, place.account, place.uri)
    case 'object':
      return objectPath(place.kind, place.account, place.uri, place.name)
  }
}
