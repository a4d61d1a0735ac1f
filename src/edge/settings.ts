import type { DatabaseAddress } from './database-role.ts'
import type { Ports } from './ports.ts'

/** Everything the three configurations are written from; for a private edge and for real hosts. */
export interface EdgeSettings {
  hostname: string
  /** Where clients from outside are listened to; `*` is every address. */
  publicAddress: string
  /** Where the servers talk to each other and to the control plane. */
  privateAddress: string
  ports: Ports
  folders: Folders
  database: DatabaseAddress
  tls: { certificate: string; key: string }
  doveadmKey: string
  controllerPassword: string
  master: { user: string; passwordHash: string }
  /** Of the control plane: whose word for the real client of a login is taken, and who sends within. */
  trustedNetworks: readonly string[]
  /** `[host]:port` that takes all outgoing mail; without it, mail goes where DNS says. */
  relayHost: string | undefined
  policies: Policies
  /** Sees every message before it is accepted; undefined: mail is accepted without. */
  contentFilter: ContentFilter | undefined
  /** Keys come from files, or from a Redis. */
  redis: RedisAddress | undefined
  /** On loopback for one person: no delays after wrong passwords, no outside to be careful of. */
  isPrivate: boolean
}

export interface Folders {
  postfixConfig: string
  postfixQueue: string
  postfixData: string
  /** Where Postfix finds its plugin for PostgreSQL; unset: where the package put it. */
  postfixMeta: string | undefined
  dovecotConfig: string
  dovecotRun: string
  dovecotState: string
  rspamdConfig: string
  rspamdData: string
  rspamdPid: string
  /** Signing keys in files and the list of which selector signs. */
  dkim: string
  mail: string
  logs: string
}

/** Where decisions are asked for; what is not there is not asked. */
export interface Policies {
  host: string
  /** Asked once a message, at its end: it counts. */
  ratePort: number | undefined
  /** Asked for every recipient of an authenticated client. */
  accessPort: number | undefined
  /** Asked by Dovecot before and after every login. */
  authPort: number | undefined
  authKey: string
  /** What an answer that does not come means: the mail passes, or it is to be tried later. */
  failOpen: boolean
}

export interface ContentFilter {
  host: string
  port: number
  /** Shows that what is said about the sender of a message was said by Postfix. */
  key: string
}

export interface RedisAddress {
  host: string
  port: number
  password: string
  database: string
}

/** Mail belongs to this number, which needs no account. */
export const MAIL_UID = 5000

/** A file of the rendered configuration. */
export interface RenderedFile {
  /** Under the folder of its server. */
  name: string
  text: string
  /** The group that may read it besides root; `all` for what is no secret, `none` for root alone. */
  readers: 'all' | 'dovecot' | 'postfix' | '_rspamd' | 'none'
}
