import { ORIGIN_HEADER } from '../mail/origin.ts'
import { postfixServices } from './postfix-services.ts'
import type { EdgeSettings, RenderedFile } from './settings.ts'

/** The configuration of Postfix: who may send what, and where mail goes. */
export function postfixFiles(edge: EdgeSettings): RenderedFile[] {
  const maps = Object.entries(QUERIES).map(([name, query]) => ({
    name: `pgsql-${name}.cf`,
    text: map(edge, query),
    readers: 'postfix' as const,
  }))
  return [
    { name: 'main.cf', text: main(edge), readers: 'all' },
    { name: 'master.cf', text: postfixServices(edge), readers: 'all' },
    { name: ORIGIN_MAP, text: originMap(edge), readers: 'postfix' },
    ...maps,
  ]
}

const ORIGIN_MAP = 'origin.regexp'

/** Tells the content filter who sends; nobody else knows the key, and the filter takes it off. */
const originMap = ({ contentFilter }: EdgeSettings): string =>
  contentFilter === undefined
    ? '# There is no content filter.\n'
    : `/^(.*)$/ PREPEND ${ORIGIN_HEADER}: ${contentFilter.key} $1\n`

// Postfix quotes what it puts in the place of %s.
const QUERIES = {
  domains: "SELECT edge.is_domain('%s')",
  mailboxes: "SELECT edge.is_mailbox('%s')",
  aliases: "SELECT edge.alias_targets('%s')",
  senders: "SELECT edge.sender_owners('%s')",
}

const map = (
  { database }: EdgeSettings,
  query: string,
): string => `# Written by mailplane; changes here are lost.
hosts = ${database.host.includes(':') ? `[${database.host}]` : database.host}:${database.port}
dbname = ${database.name}
user = ${database.user}
password = ${database.password}
query = ${query}
`

const main = (edge: EdgeSettings): string => {
  const { folders, ports, privateAddress, policies } = edge
  const lookup = (name: keyof typeof QUERIES) =>
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
# Who may use the private listeners: this host and the control plane.
private_networks = ${networks(edge)}
queue_directory = ${folders.postfixQueue}
data_directory = ${folders.postfixData}
mail_owner = postfix
setgid_group = postdrop
${folders.postfixMeta === undefined ? '' : `meta_directory = ${folders.postfixMeta}\n`}biff = no
append_dot_mydomain = no
smtputf8_enable = no

# The log is read by a program: times in UTC, ids that are never used twice, subjects.
maillog_file = ${folders.logs}/mail.log
maillog_file_prefixes = ${folders.logs}
import_environment = MAIL_CONFIG MAIL_DEBUG MAIL_LOGTAG TZ=UTC XAUTHORITY DISPLAY LANG=C POSTLOG_SERVICE POSTLOG_HOSTNAME
syslog_name = postfix
enable_long_queue_ids = yes
header_checks = regexp:{{/^Subject:/ INFO}}
nested_header_checks =

# Who is here. A mailbox leads to itself before a catch-all is asked, and +detail is cut off there.
virtual_mailbox_domains = ${lookup('domains')}
virtual_mailbox_maps = ${lookup('mailboxes')}
virtual_alias_maps = ${lookup('aliases')}
virtual_alias_domains =
sender_login_maps = ${lookup('senders')}
proxy_read_maps = $virtual_mailbox_domains $virtual_mailbox_maps $virtual_alias_maps $sender_login_maps
recipient_delimiter = +
propagate_unmatched_extensions =
virtual_transport = lmtp:inet:${privateAddress}:${ports.lmtp}
lmtp_destination_recipient_limit = 10
smtpd_reject_unlisted_recipient = yes
smtpd_reject_unlisted_sender = no
# What the public listeners take, and room for what is added on the way.
public_message_size_limit = 52428800
message_size_limit = 54525952
mailbox_size_limit = 0
# A line that is broken on its way out breaks the signature over it.
smtp_line_length_limit = 0
lmtp_line_length_limit = 0

smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:${privateAddress}:${ports.sasl}
# Only on the listeners for it.
smtpd_sasl_auth_enable = no
smtpd_sasl_security_options = noanonymous

smtpd_tls_cert_file = ${edge.tls.certificate}
smtpd_tls_key_file = ${edge.tls.key}
smtpd_tls_security_level = may
smtpd_tls_mandatory_protocols = >=TLSv1.2
smtpd_tls_loglevel = 0
smtp_tls_security_level = may
tls_random_source = dev:/dev/urandom

smtpd_delay_reject = yes
smtpd_helo_required = yes
disable_vrfy_command = yes
# Two ways to smuggle a message behind another.
smtpd_forbid_bare_newline = normalize
smtpd_forbid_unauth_pipelining = yes
# Per minute and client; the networks above are exempt.
smtpd_client_connection_rate_limit = 30
smtpd_client_message_rate_limit = 100
smtpd_client_recipient_rate_limit = 200
smtpd_client_connection_count_limit = 50

smtpd_relay_restrictions = reject_unauth_destination
mx_recipient_restrictions =
    reject_non_fqdn_recipient,
    reject_unauth_destination,
    reject_unlisted_recipient,
    check_policy_service { inet:${privateAddress}:${ports.quota}, default_action=DUNNO, timeout=5s, try_limit=1 },${asked(edge, policies.accessPort, 'mx')}
    permit
# The empty sender belongs to nobody, so the check of owners does not look at it.
submission_sender_restrictions =
    check_sender_access inline:{ {<> = REJECT 5.7.1 an empty sender is not allowed here} },
    reject_non_fqdn_sender,
    reject_sender_login_mismatch,
    permit
submission_recipient_restrictions =
    reject_non_fqdn_recipient,${asked(edge, policies.accessPort)}
    permit_sasl_authenticated,
    reject
submission_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort)}`}
# The services of the installation send for people who have logged in to them.
internal_sender_restrictions =
    check_sender_access inline:{ {<> = REJECT 5.7.1 an empty sender is not allowed here} },
    reject_non_fqdn_sender,
    permit
internal_recipient_restrictions =
    reject_non_fqdn_recipient,${asked(edge, policies.accessPort, 'internal')}
    permit_mynetworks,
    reject
internal_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort, 'internal')}`}
origin_map = regexp:${folders.postfixConfig}/${ORIGIN_MAP}
smtpd_policy_service_request_limit = 0

milter_protocol = 6
# Mail that should have been signed waits until it can be.
milter_default_action = tempfail
milter_mail_macros = i {mail_addr} {client_addr} {client_name} {auth_authen} {auth_type}
smtpd_milters = inet:${privateAddress}:${ports.milter}
non_smtpd_milters =
# The filter is given whole messages, so that slow clients do not keep it busy.
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

/** IPv6 networks stand in brackets here. */
const networks = ({ trustedNetworks, isPrivate }: EdgeSettings): string =>
  [...trustedNetworks, ...(isPrivate ? [] : ['::1/128'])]
    .map((network) => (network.includes(':') ? network.replace(/^([^/]+)/, '[$1]') : network))
    .join(' ')

const asked = (edge: EdgeSettings, port: number | undefined, context?: string) =>
  port === undefined ? '' : `\n    ${policy(edge, port, context)},`

/** The context says which listener asks. */
const policy = ({ policies }: EdgeSettings, port: number, context?: string) =>
  `check_policy_service { inet:${policies.host}:${port}, ${
    context === undefined ? '' : `policy_context=${context}, `
  }default_action=${
    policies.failOpen ? 'DUNNO' : '451 4.3.5 Policy service unavailable'
  }, timeout=5s, try_limit=1 }`
