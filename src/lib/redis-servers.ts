interface Node {
  host: string
  port: number
}

interface Login {
  username: string | undefined
  password: string | undefined
  isEncrypted: boolean
}

/** One server, the primary that Sentinels know by its name, or a Cluster. */
export type RedisServers =
  | { kind: 'one'; url: string }
  | ({ kind: 'sentinel'; nodes: Node[]; primary: string; database: number } & Login)
  | ({ kind: 'cluster'; nodes: Node[] } & Login)

const LIST =
  /^redis(s?)\+(sentinel|cluster):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^/?#]+))?(?:\/(\d{1,3}))?$/
const PORTS = { sentinel: 26_379, cluster: 6379 }

/** Reads a value of REDIS_URL; undefined if it is malformed. */
export function parseRedisServers(value: string): RedisServers | undefined {
  const [, secure, kind, credentials = '', list = '', name, database] = LIST.exec(value) ?? []
  if (kind === undefined) return isOne(value) ? { kind: 'one', url: value } : undefined
  const port = kind === 'sentinel' ? PORTS.sentinel : PORTS.cluster
  const nodes = list.split(',').map((host) => nodeOf(host, port))
  const login = loginOf(credentials)
  if (!login || !nodes.every((node) => node !== undefined)) return undefined
  const shared = { ...login, nodes, isEncrypted: secure === 's' }
  if (kind === 'cluster') return name === undefined ? { kind, ...shared } : undefined
  if (name === undefined) return undefined
  return { kind: 'sentinel', primary: name, database: Number(database ?? 0), ...shared }
}

const isOne = (value: string) =>
  URL.canParse(value) && ['redis:', 'rediss:'].includes(new URL(value).protocol)

function nodeOf(text: string, port: number): Node | undefined {
  const url = URL.parse(`redis://${text}`)
  if (!url || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || port) }
}

function loginOf(credentials: string): Pick<Login, 'username' | 'password'> | undefined {
  const [name = '', ...rest] = credentials.split(':')
  try {
    return {
      username: decodeURIComponent(name) || undefined,
      password: decodeURIComponent(rest.join(':')) || undefined,
    }
  } catch {
    return undefined
  }
}
