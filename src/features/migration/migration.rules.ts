import type { Static } from 'typebox'
import { InvalidRequest } from '../../errors.ts'
import type { Credentials } from './credentials.ts'
import type { Direction, JobRow } from './migration.repository.ts'
import type { Continuation, ExportRequest, ImportRequest } from './migration.schemas.ts'

type Place = (string | number)[]

interface Remote {
  host: string
  port: number
  ssl: boolean
  verify: boolean
  username: string
  auth: 'password' | 'oauth2'
}

/** A requested job, in one form for both directions. */
export interface Wanted {
  direction: Direction
  email: string
  mailboxSecret: string
  remote: Remote
  remoteSecret: string
  folder_mapping: { source: string; target: string }[]
  exclude_folders: string[]
  webhook_url: string | null
}

type Shared = Pick<
  Static<typeof ImportRequest>,
  'folder_mapping' | 'exclude_folders' | 'webhook_url'
>

const sharedOf = (sent: Shared) => ({
  folder_mapping: sent.folder_mapping ?? [],
  exclude_folders: sent.exclude_folders ?? [],
  webhook_url: sent.webhook_url ?? null,
})

export const importOf = (sent: Static<typeof ImportRequest>, place: Place): Wanted => ({
  direction: 'import',
  email: sent.target_email,
  mailboxSecret: sent.target_password,
  remote: {
    host: hostOf(sent.source_host, [...place, 'source_host']),
    port: sent.source_port ?? 993,
    ssl: sent.source_ssl ?? true,
    verify: sent.source_tls_verify ?? true,
    username: loginOf(sent.source_username, [...place, 'source_username']),
    auth: sent.source_auth ?? 'password',
  },
  remoteSecret: sent.source_password,
  ...sharedOf(sent),
})

export const exportOf = (sent: Static<typeof ExportRequest>, place: Place): Wanted => ({
  direction: 'export',
  email: sent.source_email,
  mailboxSecret: sent.source_password,
  remote: {
    host: hostOf(sent.target_host, [...place, 'target_host']),
    port: sent.target_port ?? 993,
    ssl: sent.target_ssl ?? true,
    verify: sent.target_tls_verify ?? true,
    username: loginOf(sent.target_username, [...place, 'target_username']),
    auth: sent.target_auth ?? 'password',
  },
  remoteSecret: sent.target_password,
  ...sharedOf(sent),
})

/** Fields of an account override the shared ones. */
export const withShared = <Account extends Shared>(account: Account, all: Shared): Account => ({
  ...all,
  ...account,
})

interface Known {
  /** The passwords of the job before, while they are kept. */
  kept: Credentials | undefined
  /** The master login opens the mailbox, also after a change of its password. */
  hasMasterLogin: boolean
}

/** The credentials for a follow-up job: those sent now, else those that are known. */
export function continued(
  { direction }: Pick<JobRow, 'direction'>,
  sent: Static<typeof Continuation>,
  { kept, hasMasterLogin }: Known,
): Credentials {
  const isImport = direction === 'import'
  const [own, other] = isImport
    ? (['target_password', 'source_password'] as const)
    : (['source_password', 'target_password'] as const)
  const remote = sent[other] ?? kept?.remote
  if (remote === undefined) throw again(other)
  if (hasMasterLogin) return { mailbox: sent[own], remote }
  const mailbox = sent[own] ?? kept?.mailbox
  if (mailbox === undefined) throw again(own)
  return { mailbox, remote }
}

const again = (field: string) =>
  new InvalidRequest([
    {
      loc: ['body', field],
      msg: 'Is required: the passwords of the job are erased, so send this one again',
      type: 'missing',
    },
  ])

// A DNS name or an IP address.
const HOST = /^(?=.{1,255}$)([\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?|[0-9a-f:.]+)$/iu

function hostOf(text: string, loc: Place): string {
  const host = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  if (HOST.test(host)) return host.replace(/\.$/, '')
  const msg = 'Must be the name or the address of a server, without scheme and port'
  throw new InvalidRequest([{ loc, msg, type: 'value_error' }])
}

/** RFC 3501 §9: a string cannot contain NUL, CR or LF. */
function loginOf(text: string, loc: Place): string {
  if (!/[\0\r\n]/.test(text)) return text
  throw new InvalidRequest([{ loc, msg: 'Must be one line of text', type: 'value_error' }])
}
