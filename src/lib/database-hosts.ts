/** The servers of DATABASE_URL. */
export interface DatabaseHosts {
  /** One URL for each host of the list. */
  targets: readonly string[]
  /** True if only a server that accepts writes will do. */
  needsPrimary: boolean
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?$/i
const ATTRIBUTE = 'target_session_attrs'
const WRITABLE = ['read-write', 'primary']

/**
 * Reads a URL with one or more hosts, in the form of libpq:
 * postgres://name@one:5432,two:5432/database?target_session_attrs=read-write.
 * Returns undefined for a malformed one, and for a list that could lead to a replica.
 */
export function parseDatabaseHosts(url: string): DatabaseHosts | undefined {
  const [, start, list, path, query = ''] = PARTS.exec(url) ?? []
  if (start === undefined || list === undefined) return undefined
  const settings = new URLSearchParams(query)
  const attribute = settings.get(ATTRIBUTE)
  settings.delete(ATTRIBUTE)
  const rest = settings.size === 0 ? path : `${path}?${settings}`
  const hosts = list.split(',')
  const targets = hosts.map((host) => `${start}${host}${rest}`)
  const isComplete = hosts.length === 1 || hosts.every((host) => host !== '')
  if (!isComplete || !targets.every((target) => URL.canParse(target))) return undefined
  const isKnown = attribute === null || attribute === 'any' || WRITABLE.includes(attribute)
  if (!isKnown || (attribute === 'any' && hosts.length > 1)) return undefined
  return { targets, needsPrimary: hosts.length > 1 || WRITABLE.includes(attribute ?? '') }
}
