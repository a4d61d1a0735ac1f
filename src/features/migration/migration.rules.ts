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

/** What a job is about, whichever way the mail goes. */
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

/** Fields of one account go before those that are meant for all of them. */
export const withShared = <Account extends Shared>(account: Account, all: Shared): Account => ({
  ...all,
  ...account,
})

/** Both passwords again, by the names under which the first job had them. */
export function continued(
  { direction }: Pick<JobRow, 'direction'>,
  sent: Static<typeof Continuation>,
): Credentials {
  const { source_password: source, target_password: target } = sent
  if (source === undefined) throw again('source_password')
  if (target === undefined) throw again('target_password')
  return direction === 'import'
    ? { mailbox: target, remote: source }
    : { mailbox: source, remote: target }
}

const again = (field: string) =>
  new InvalidRequest([
    {
      loc: ['body', field],
      msg: 'Is required: passwords are erased when a job ends, so send them again',
      type: 'missing',
    },
  ])

// A name as DNS has it, or an address; brackets around IPv6 are as good as none.
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

/** RFC 3501 §9: no string of the protocol holds these. */
function loginOf(text: string, loc: Place): string {
  if (!/[\0\r\n]/.test(text)) return text
  throw new InvalidRequest([{ loc, msg: 'Must be one line of text', type: 'value_error' }])
}
