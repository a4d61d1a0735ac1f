import type { DescribedRoute } from './collect.ts'

/** The groups of the reference, in the order in which most readers need them. */
const TAGS: Record<string, string> = {
  bootstrap: 'The first organization of a new installation.',
  capabilities: 'Features of this installation; read them before you use an optional part.',
  auth: 'Login to the dashboard, sessions, password and second factor of the own user.',
  'api-keys': 'Keys for programs, with scopes and expiry.',
  users: 'Dashboard users of an organization: invitations, roles, sessions.',
  organizations: 'The tenants, with their settings and quotas.',
  domains: 'Mail domains: DNS records, ownership, DKIM keys, quotas, spam policy.',
  mailboxes: 'Email accounts of an organization, their passwords and quotas.',
  aliases: 'Addresses that forward to other addresses.',
  'shared-mailboxes': 'Mailboxes that several people use, with the rights of each.',
  'smtp-credentials': 'Logins for programs that send mail, with their use.',
  filters: 'Sieve scripts of a mailbox, written by its organization.',
  'transport-rules': 'Rules that change, divert or reject mail of an organization as it passes.',
  webhooks: 'Endpoints that receive events, deliveries and dead letters.',
  'rate-limiter':
    'Limits of the messages that an organization, a domain or a mailbox sends and receives.',
  storage: 'Storage use, quotas and clean-up.',
  tracking: 'Opens, clicks, unsubscribing and suppressed addresses.',
  'url-protection':
    'Links of incoming mail: their check at the click, blocked and allowed addresses.',
  suppressions: 'Addresses of the own organization that get no more mail.',
  messages: 'Sending mail, and what became of the messages of the own organization.',
  templates: 'Templates of mail: versions, rendering, sending.',
  activity: 'Activity in the own organization: events, and changes by operators.',
  analytics: 'Figures of mail by domain, and reports.',
  migration: 'Copies of mailboxes from and to other servers over IMAP.',
  archive: 'Archived mail of an organization: search, restore, keys and imports.',
  encryption:
    'OpenPGP keys and S/MIME certificates of mailboxes and correspondents, and what is done with them.',
  caldav: 'Calendars and contacts of mailboxes; programs reach them over CalDAV and CardDAV.',
  rag: 'Search in mail and documents by meaning and by words.',
  oauth: 'Programs that sign in with OAuth, and what holders allow them.',
  'mailbox-auth': 'Login of the holder of a mailbox.',
  mailbox: "The holder's own settings: rules, forwarding, vacation reply, blocked senders.",
  platform: 'The console of operators: their accounts, audit trail, alerts, backups, services.',
  security: 'Failed logins, blocks, IP and country rules, data loss prevention.',
  'message-trace': 'The trace of a message, and the quarantine.',
  queue: 'The mail queue of Postfix.',
  monitoring: 'State of the services and of the host.',
  ssl: 'TLS certificates and the accounts at the certificate authority.',
  compliance: 'Exports, erasure, consent, legal holds and retention.',
  reputation: 'Scores of domains and IP addresses, complaints.',
  reseller: 'Customers of resellers, their plans and use.',
  whitelabel: 'The brand that an organization shows.',
  meta: 'Health, metrics and answers for certificate authorities.',
  internal: 'For the other services of an installation; not for clients.',
}

export const tagOf = ({ url, auth }: DescribedRoute): string => {
  if (auth.kind === 'internal') return 'internal'
  return url.startsWith('/api/v1/') ? (url.split('/')[3] ?? 'meta') : 'meta'
}

/** The tags of these routes with their descriptions. */
export function tagsOf(routes: readonly DescribedRoute[]): { name: string; description: string }[] {
  const used = new Set(routes.map(tagOf))
  return Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }))
}
