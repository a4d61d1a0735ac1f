import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { HOST_NAME } from '../../../mail/mail-hosts.ts'

const ROLES = ['proxy', 'backend', 'mx', 'submission', 'outbound'] as const
const STATES = ['active', 'draining', 'away'] as const

const Port = (description: string, standard: number) =>
  Type.Integer({ minimum: 1, maximum: 65535, description, default: standard })

const addresses = {
  address: Type.String({
    pattern: '^[A-Za-z0-9.:-]{1,253}$',
    description:
      'Name or IP address in the private network; outside of loopback its certificate has it',
    examples: ['mail1.internal.example'],
  }),
  imap_port: Port('IMAP with TLS', 993),
  pop3_port: Port('POP3 with TLS', 995),
  sieve_port: Port('ManageSieve', 4190),
  lmtp_port: Port('Deliveries of Postfix', 24),
  sync_port: Port('Copies from other backends', 24182),
}

const DoveadmUrl = Type.String({
  pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+/?$',
  maxLength: 300,
  description: "Dovecot's HTTP administration interface",
  examples: ['https://mail1.internal.example:24180'],
})

export const MailHost = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ examples: ['mail1'] }),
    roles: Type.Array(OneOf(ROLES)),
    state: OneOf(STATES),
    ...addresses,
    doveadm_url: Nullable(DoveadmUrl),
    mailboxes: Type.Integer({ description: 'Mailboxes that are on this host' }),
    open_moves: Type.Integer({ description: 'Moves from and to this host that have not ended' }),
    old_copies: Type.Integer({ description: 'Copies of moved mailboxes that wait for removal' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'MailHost' },
)

export const MailHostParams = Type.Object({ host_id: Type.String() })
export const MailHostQuery = Type.Object(PageQuery)

const optionalPorts = {
  imap_port: Type.Optional(addresses.imap_port),
  pop3_port: Type.Optional(addresses.pop3_port),
  sieve_port: Type.Optional(addresses.sieve_port),
  lmtp_port: Type.Optional(addresses.lmtp_port),
  sync_port: Type.Optional(addresses.sync_port),
}

export const NewMailHost = Body({
  name: Type.String({
    pattern: HOST_NAME.source,
    description: 'As given to `edge render --host`; it cannot be changed',
    examples: ['mail1'],
  }),
  roles: Type.Array(OneOf(ROLES), {
    minItems: 1,
    maxItems: ROLES.length,
    description: 'A backend has no other role',
    examples: [['backend']],
  }),
  address: addresses.address,
  ...optionalPorts,
  doveadm_url: Type.Optional(DoveadmUrl),
})

export const MailHostChange = Body({
  address: Type.Optional(addresses.address),
  ...optionalPorts,
  doveadm_url: Type.Optional(DoveadmUrl),
  state: Type.Optional(
    OneOf(['active', 'away'] as const, {
      description: 'away: nothing connects to the host, and mail for its mailboxes waits',
    }),
  ),
})

export const Drained = Type.Object({
  host_id: Type.String(),
  state: OneOf(STATES),
  moves: Type.Integer({ description: 'Moves that were started' }),
})
