import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isLoopback } from '../../../lib/ip-ranges.ts'
import { ConnectionRefused, type ImapServer } from '../../../mail/imap/connect.ts'
import { openCredentials } from '../credentials.ts'
import type { ClaimedJob } from './claims.repository.ts'
import type { Needs } from './run.ts'

const SECURITY = { true: 'tls', starttls: 'starttls', false: 'none' } as const

type OwnServer = ReturnType<Needs['mailServers']['current']>

/** The password of the mailbox if the job has one, else the master login. */
function ownLogin(server: OwnServer, mailbox: string, password: string | undefined) {
  if (password !== undefined) return { user: mailbox, secret: password }
  const { IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: secret } = server
  if (user && secret) return { user: `${mailbox}*${user}`, secret }
  throw new ConnectionRefused(`Opening ${mailbox} without its password needs IMAP_MASTER_USER`)
}

/** The source and the target server of a job. */
export function serversOf({ config, mailServers, outbound, vault }: Needs, job: ClaimedJob) {
  const secrets = openCredentials(vault, job.credentials)
  const commandMs = config.MIGRATION_COMMAND_SECONDS * 1000
  const settings = mailServers.current()
  const { IMAP_HOST: host, IMAP_PORT, IMAP_TLS } = settings
  if (!host)
    throw new ConnectionRefused('This host has no IMAP server; its operator sets IMAP_HOST')
  const own: ImapServer = {
    name: host,
    port: IMAP_PORT,
    security: SECURITY[IMAP_TLS],
    // Loopback traffic cannot be intercepted, and local servers often have self-signed certificates.
    verify: config.IMAP_TLS_VERIFY && !isLoopback(host),
    ...ownLogin(settings, job.mailbox, secrets.mailbox),
    auth: 'password',
    commandMs,
    // The operator chose this host, so the SSRF guard does not apply.
    addresses: async () => (isIP(host) ? [host] : [(await lookup(host)).address]),
  }
  const other: ImapServer = {
    name: job.remote_host,
    port: job.remote_port,
    security: job.remote_ssl ? 'tls' : 'opportunistic',
    verify: job.remote_tls_verify,
    user: job.remote_username,
    secret: secrets.remote,
    auth: job.remote_auth,
    commandMs,
    addresses: () => outbound.addressesOf(job.remote_host),
  }
  return job.direction === 'import'
    ? { source: other, target: own }
    : { source: own, target: other }
}
