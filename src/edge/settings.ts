import type { DatabaseAddress } from './database-role.ts'
import type { Ports } from './ports.ts'

/** The settings from which the configuration of Postfix, Dovecot and Rspamd is rendered. */
export interface EdgeSettings {
  hostname: string
  /** The IP address of the public listeners; `*` means all. */
  publicAddress: string
  /** The IP address of the listeners for the other servers and the control plane. */
  privateAddress: string
  ports: Ports
  folders: Folders
  database: DatabaseAddress
  tls: { certificate: string; key: string }
  doveadmKey: string
  /** The control plane sends it with the password of a holder, and asks for the second factor itself. */
  loginKey: string
  controllerPassword: string
  master: { user: string; passwordHash: string }
  /** Networks of the control plane, which may name the real client of a login and send mail. */
  trustedNetworks: readonly string[]
  /** `[host]:port` of a relay for all outgoing mail; undefined delivers by MX records. */
  relayHost: string | undefined
  policies: Policies
  /** Checks every message before it is accepted; undefined disables the filter. */
  contentFilter: ContentFilter | undefined
  /** The virus scanner; undefined when it is turned off. */
  antivirus: Antivirus | undefined
  /** Resolvers of a private Rspamd. */
  dnsServers: readonly string[]
  /** The Redis with the signing keys; undefined when they are files. */
  redis: RedisAddress | undefined
  /** The part of this host among several; undefined when it is the only one. */
  host: HostPart | undefined
  /** A private edge on loopback: no delays after wrong passwords, no network look-ups. */
  isPrivate: boolean
}

export interface Folders {
  postfixConfig: string
  postfixQueue: string
  postfixData: string
  /** The folder of the PostgreSQL plugin of Postfix; undefined for that of the package. */
  postfixMeta: string | undefined
  dovecotConfig: string
  dovecotRun: string
  dovecotState: string
  rspamdConfig: string
  rspamdData: string
  rspamdPid: string
  clamavConfig: string
  /** Temporary files and the pid file of clamd. */
  clamavData: string
  /** The signing keys and the list of active selectors. */
  dkim: string
  /** The certificates that are presented by name. */
  sni: string
  mail: string
  logs: string
}

/** The policy services of the control plane; an undefined port disables one. */
export interface Policies {
  host: string
  /** Called once per message, after DATA, to count it. */
  ratePort: number | undefined
  /** Called for every recipient. */
  accessPort: number | undefined
  /** Called by Dovecot before and after every login. */
  authPort: number | undefined
  authKey: string
  /** Decides if mail passes or is deferred while a policy service does not answer. */
  failOpen: boolean
}

export const HOST_ROLES = ['proxy', 'backend', 'mx', 'submission', 'outbound'] as const
export type HostRole = (typeof HOST_ROLES)[number]

export interface HostPart {
  name: string
  roles: readonly HostRole[]
  /** `host:port` that takes redirects and replies of mailbox filters from a backend. */
  automaticHost: string
  /** The login of proxies at backends, with the rights of the mailbox. */
  proxy: { user: string; password: string }
  masterPassword: string
  /** With which backends copy mailboxes to each other. */
  syncPassword: string
}

export const isBackend = ({ host }: Pick<EdgeSettings, 'host'>): boolean =>
  host?.roles.includes('backend') ?? false

/** A proxy, or the logins for Postfix: a Dovecot that has no mail. */
export const isFront = ({ host }: Pick<EdgeSettings, 'host'>): boolean =>
  host?.roles.some((role) => role === 'proxy' || role === 'submission') ?? false

/** One of several hosts on a network: the others verify its certificate, and it verifies theirs. */
export const hasPeers = ({ host, isPrivate }: Pick<EdgeSettings, 'host' | 'isPrivate'>): boolean =>
  host !== undefined && !isPrivate

interface ContentFilter {
  host: string
  port: number
  /** Proves to the filter that Postfix wrote the origin header. */
  key: string
}

interface Antivirus {
  /** The folder of the signatures; undefined for the test signature of a private edge. */
  database: string | undefined
}

export interface RedisAddress {
  host: string
  port: number
  password: string
  database: string
}

/** The certificates that a Debian host trusts; `update-ca-certificates` adds those of the operator. */
export const SYSTEM_ROOTS = '/etc/ssl/certs/ca-certificates.crt'

/** The user id that owns the mail files; it needs no entry in /etc/passwd. */
export const MAIL_UID = 5000

/** A file of the rendered configuration. */
export interface RenderedFile {
  /** The path below the configuration folder of its server. */
  name: string
  text: string
  /** The group that may read the file besides root; `all` for everyone, `none` for root only. */
  readers: 'all' | 'dovecot' | 'postfix' | '_rspamd' | 'none'
}
