import { HOLD_HELO } from '../mail/handover.ts'
import { AUTOMATIC_ORIGIN, ORIGIN_HEADER } from '../mail/origin.ts'
import { SNI_MAP } from '../mail/server-certificates.files.ts'
import { type DatabaseAddress, hostPort, tlsParameters } from './database-role.ts'
import { postfixServices } from './postfix-services.ts'
import {
  type EdgeSettings,
  hasPeers,
  isBackend,
  type RenderedFile,
  SYSTEM_ROOTS,
} from './settings.ts'

/** Renders the configuration of Postfix. */
export function postfixFiles(edge: EdgeSettings): RenderedFile[] {
  if (isBackend(edge)) return []
  const queries = edge.host ? { ...QUERIES, ...PLACE_QUERIES } : QUERIES
  const maps = Object.entries(queries).map(([name, query]) => ({
    name: `pgsql-${name}.cf`,
    text: map(edge, query),
    readers: 'postfix' as const,
  }))
  return [
    { name: 'main.cf', text: main(edge), readers: 'all' },
    { name: 'master.cf', text: postfixServices(edge), readers: 'all' },
    { name: ORIGIN_MAP, text: originMap(edge, '$1'), readers: 'postfix' },
    {
      name: AUTOMATIC_ORIGIN_MAP,
      text: originMap(edge, `${AUTOMATIC_ORIGIN} $1`),
      readers: 'postfix',
    },
    ...maps,
  ]
}

const ORIGIN_MAP = 'origin.regexp'
const AUTOMATIC_ORIGIN_MAP = 'origin-automatic.regexp'

/** Adds the origin header for the content filter, which checks the secret key and removes it. */
const originMap = ({ contentFilter }: EdgeSettings, origin: string): string =>
  contentFilter === undefined
    ? '# There is no content filter.\n'
    : `/^(.*)$/ PREPEND ${ORIGIN_HEADER}: ${contentFilter.key} ${origin}\n`

// Postfix escapes the value of %s.
const QUERIES = {
  domains: "SELECT edge.is_domain('%s')",
  mailboxes: "SELECT edge.is_mailbox('%s')",
  aliases: "SELECT edge.alias_targets('%s')",
  senders: "SELECT edge.sender_owners('%s')",
}

/** With several hosts: the backend of a mailbox, and whether the mailbox is full. */
const PLACE_QUERIES = {
  transport: "SELECT edge.transport('%s')",
  full: "SELECT edge.full_mailbox('%s')",
}

const map = (
  { database }: EdgeSettings,
  query: string,
): string => `# Written by mailplane; changes here are lost.
hosts = ${hostPort(database)}
dbname = ${database.name}
user = ${database.user}
password = ${database.password}
query = ${query}
`

const main = (edge: EdgeSettings): string => {
  const { folders, ports, privateAddress, policies } = edge
  const lookup = (name: keyof typeof QUERIES | keyof typeof PLACE_QUERIES) =>
    `proxy:pgsql:${folders.postfixConfig}/pgsql-${name}.cf`
  return `# Written by mailplane; changes here are lost.
compatibility_level = 3.6
myhostname = ${edge.hostname}
mydestination =
local_recipient_maps =
local_transport = error:5.1.1 no local delivery
alias_maps =
inet_interfaces = ${edge.publicAddress === '*' ? 'all' : edge.publicAddress}
inet_protocols = ${edge.isPrivate ? 'ipv4' : 'all'}
mynetworks = 127.0.0.0/8${edge.isPrivate ? '' : ' [::1]/128'}
# This host and the control plane may use the private listeners.
private_networks = ${networks(edge)}
queue_directory = ${folders.postfixQueue}
data_directory = ${folders.postfixData}
mail_owner = postfix
setgid_group = postdrop
${folders.postfixMeta === undefined ? '' : `meta_directory = ${folders.postfixMeta}\n`}biff = no
append_dot_mydomain = no
# Routing inside the local part would hide the domain of an address from the policies.
allow_percent_hack = no
swap_bangpath = no
smtputf8_enable = no

# For the log ingestor: times in UTC, unique queue ids, subjects.
maillog_file = ${folders.logs}/mail.log
maillog_file_prefixes = ${folders.logs}
import_environment = MAIL_CONFIG MAIL_DEBUG MAIL_LOGTAG TZ=UTC XAUTHORITY DISPLAY LANG=C POSTLOG_SERVICE POSTLOG_HOSTNAME${databaseTls(edge.database)}
syslog_name = postfix
enable_long_queue_ids = yes
header_checks = regexp:{{/^Subject:/ INFO}}
nested_header_checks =

# Domains, mailboxes and aliases. An alias look-up returns an existing mailbox before a catch-all,
# and removes +detail.
virtual_mailbox_domains = ${lookup('domains')}
virtual_mailbox_maps = ${lookup('mailboxes')}
virtual_alias_maps = ${lookup('aliases')}
virtual_alias_domains =
sender_login_maps = ${lookup('senders')}
proxy_read_maps = $virtual_mailbox_domains $virtual_mailbox_maps $virtual_alias_maps $sender_login_maps${edge.host ? ' $transport_maps $full_mailboxes' : ''}
recipient_delimiter = +
propagate_unmatched_extensions =
${
  edge.host ? `transport_maps = ${lookup('transport')}\nfull_mailboxes = ${lookup('full')}\n` : ''
}virtual_transport = ${
    edge.host
      ? 'retry:4.3.0 the mailbox has no mail host'
      : `lmtp:inet:${privateAddress}:${ports.lmtp}`
  }
lmtp_destination_recipient_limit = 10
# Recipients exist when mail for them is accepted. Mail for a login that Dovecot does not find waits.
lmtp_reply_filter = regexp:{{/^550 5(\\.1\\.1 .* User doesn't exist.*)/ 450 4$$1}}
smtpd_reject_unlisted_recipient = yes
smtpd_reject_unlisted_sender = no
# The limit of the public listeners; internal hops allow for added headers.
public_message_size_limit = 52428800
message_size_limit = 54525952
mailbox_size_limit = 0
# Breaking long lines would invalidate the DKIM signature.
smtp_line_length_limit = 0
lmtp_line_length_limit = 0

smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:${privateAddress}:${ports.sasl}
# Enabled only on the submission listeners.
smtpd_sasl_auth_enable = no
smtpd_sasl_security_options = noanonymous

smtpd_tls_cert_file = ${edge.tls.certificate}
smtpd_tls_key_file = ${edge.tls.key}
# The control plane replaces this table when a certificate is issued or renewed.
tls_server_sni_maps = hash:${folders.sni}/${SNI_MAP}
smtpd_tls_security_level = may
smtpd_tls_mandatory_protocols = >=TLSv1.2
smtpd_tls_loglevel = 0
smtp_tls_security_level = may
${hasPeers(edge) ? toPeers(edge) : ''}tls_random_source = dev:/dev/urandom

smtpd_delay_reject = yes
smtpd_helo_required = yes
disable_vrfy_command = yes
# Prevents SMTP smuggling.
smtpd_forbid_bare_newline = normalize
smtpd_forbid_unauth_pipelining = yes
# Per minute and client; the networks above are exempt.
smtpd_client_connection_rate_limit = 30
smtpd_client_message_rate_limit = 100
smtpd_client_recipient_rate_limit = 200
smtpd_client_connection_count_limit = 50

# A quoted local part may have an @. Such addresses are refused, because programs disagree about
# their domain.
plain_sender = check_sender_access regexp:{{/@.*@/ REJECT 5.1.7 a local part with an @ is not allowed}}
plain_recipient = check_recipient_access regexp:{{/@.*@/ REJECT 5.1.3 a local part with an @ is not allowed}}
smtpd_relay_restrictions = reject_unauth_destination
mx_recipient_restrictions =
    $plain_sender,
    $plain_recipient,
    reject_non_fqdn_recipient,
    reject_unauth_destination,
    reject_unlisted_recipient,
    ${
      edge.host
        ? 'check_recipient_access $full_mailboxes'
        : `check_policy_service { inet:${privateAddress}:${ports.quota}, default_action=DUNNO, timeout=5s, try_limit=1 }`
    },${asked(edge, policies.accessPort, 'mx')}
    permit
# reject_sender_login_mismatch ignores the empty sender, because it has no owner.
submission_sender_restrictions =
    $plain_sender,
    check_sender_access inline:{ {<> = REJECT 5.7.1 an empty sender is not allowed here} },
    reject_non_fqdn_sender,
    reject_sender_login_mismatch,
    permit
submission_recipient_restrictions =
    $plain_recipient,
    reject_non_fqdn_recipient,${asked(edge, policies.accessPort)}
    permit_sasl_authenticated,
    reject
submission_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort)}`}
# The installation's own services send for users who have logged in to them.
internal_sender_restrictions =
    $plain_sender,
    check_sender_access inline:{ {<> = REJECT 5.7.1 an empty sender is not allowed here} },
    reject_non_fqdn_sender,
    permit
internal_recipient_restrictions =
    $plain_recipient,
    reject_non_fqdn_recipient,${asked(edge, policies.accessPort, 'internal')}
    permit_mynetworks,
    reject
internal_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort, 'internal')}`}
# Redirects and replies of mailbox filters have the mailbox as sender; a rejection has none.
automatic_recipient_restrictions =
    $plain_recipient,
    reject_non_fqdn_recipient,${asked(edge, policies.accessPort, 'automatic')}
    permit_mynetworks,
    reject
automatic_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort, 'automatic')}`}
# The content filter asks with its name for mail that has to wait.
filtered_helo_restrictions = check_helo_access inline:{ {${HOLD_HELO} = HOLD} }
origin_map = regexp:${folders.postfixConfig}/${ORIGIN_MAP}
automatic_origin_map = regexp:${folders.postfixConfig}/${AUTOMATIC_ORIGIN_MAP}
smtpd_policy_service_request_limit = 0

milter_protocol = 6
# Defer mail while it cannot be signed.
milter_default_action = tempfail
milter_mail_macros = i {mail_addr} {client_addr} {client_name} {auth_authen} {auth_type}
smtpd_milters = inet:${privateAddress}:${ports.milter}
non_smtpd_milters =
# The filter receives complete messages, so that slow clients do not block it.
smtpd_proxy_options = speed_adjust
smtpd_proxy_timeout = 300s
${edge.relayHost === undefined ? '' : `\nrelayhost = ${edge.relayHost}\n`}
minimal_backoff_time = 300s
maximal_backoff_time = 4000s
queue_run_delay = 300s
maximal_queue_lifetime = 5d
bounce_queue_lifetime = 1d
`
}

/** For libpq. A URI in the maps could say it too, but Postfix logs it with its password. */
const databaseTls = (database: DatabaseAddress): string =>
  tlsParameters(database)
    .map((one) => ` PG${one.replace(/^\w+/, (name) => name.toUpperCase())}`)
    .join('')

/** Backends and the outbound host must prove their names; a relay of another operator need not. */
const toPeers = ({ relayHost, ports }: EdgeSettings): string => `lmtp_tls_security_level = secure
lmtp_tls_secure_cert_match = hostname
lmtp_tls_mandatory_protocols = >=TLSv1.2
lmtp_tls_CAfile = ${SYSTEM_ROOTS}
# Names of hosts may be in /etc/hosts.
lmtp_host_lookup = native
${
  relayHost?.endsWith(`:${ports.reinject}`)
    ? `smtp_tls_policy_maps = inline:{ {${relayHost} = secure match=hostname} }
smtp_tls_CAfile = ${SYSTEM_ROOTS}
`
    : ''
}`

/** Postfix writes IPv6 networks in brackets. */
const networks = ({ trustedNetworks, isPrivate }: EdgeSettings): string =>
  [...trustedNetworks, ...(isPrivate ? [] : ['::1/128'])]
    .map((network) => (network.includes(':') ? network.replace(/^([^/]+)/, '[$1]') : network))
    .join(' ')

const asked = (edge: EdgeSettings, port: number | undefined, context?: string) =>
  port === undefined ? '' : `\n    ${policy(edge, port, context)},`

/** `context` names the listener in the policy request. */
const policy = ({ policies }: EdgeSettings, port: number, context?: string) =>
  `check_policy_service { inet:${policies.host}:${port}, ${
    context === undefined ? '' : `policy_context=${context}, `
  }default_action=${
    policies.failOpen ? 'DUNNO' : '451 4.3.5 Policy service unavailable'
  }, timeout=5s, try_limit=1 }`
