import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ConnectionRefused, type ImapServer } from '../../../mail/imap/connect.ts'
import { openCredentials } from '../credentials.ts'
import type { ClaimedJob } from './claims.repository.ts'
import type { Needs } from './run.ts'

const SECURITY = { true: 'tls', starttls: 'starttls', false: 'none' } as const

/** The two servers of a job, in the direction in which the mail goes. */
export function serversOf({ config, outbound, vault }: Needs, job: ClaimedJob) {
  const secrets = openCredentials(vault, job.credentials)
  const commandMs = config.MIGRATION_COMMAND_SECONDS * 1000
  const host = config.IMAP_HOST
  if (!host)
    throw new ConnectionRefused('This host has no IMAP server; its operator sets IMAP_HOST')
  const isLoopback = /^(127\.|::1$|localhost$)/.test(host)
  const own: ImapServer = {
    name: host,
    port: config.IMAP_PORT,
    security: SECURITY[config.IMAP_TLS],
    // On loopback nobody stands in between, and private servers have certificates of their own.
    verify: config.IMAP_TLS_VERIFY && !isLoopback,
    user: job.mailbox,
    secret: secrets.mailbox,
    auth: 'password',
    commandMs,
    // Chosen by the operator of this host, and so not judged.
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
