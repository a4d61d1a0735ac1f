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
    { name: 'master.cf', text: services(edge), readers: 'all' },
    ...maps,
  ]
}

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
message_size_limit = 52428800
mailbox_size_limit = 0

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
    check_policy_service { inet:${privateAddress}:${ports.quota}, default_action=DUNNO, timeout=5s, try_limit=1 },
    permit
# The empty sender belongs to nobody, so the check of owners does not look at it.
submission_sender_restrictions =
    check_sender_access inline:{ {<> = REJECT 5.7.1 an empty sender is not allowed here} },
    reject_non_fqdn_sender,
    reject_sender_login_mismatch,
    permit
submission_recipient_restrictions =
    reject_non_fqdn_recipient,${policies.accessPort === undefined ? '' : `\n    ${policy(edge, policies.accessPort)},`}
    permit_sasl_authenticated,
    reject
submission_end_of_data_restrictions =${policies.ratePort === undefined ? '' : ` ${policy(edge, policies.ratePort)}`}
smtpd_policy_service_request_limit = 0

milter_protocol = 6
# Mail that should have been signed waits until it can be.
milter_default_action = tempfail
milter_mail_macros = i {mail_addr} {client_addr} {client_name} {auth_authen} {auth_type}
smtpd_milters = inet:${privateAddress}:${ports.milter}
non_smtpd_milters =
${edge.relayHost === undefined ? '' : `\nrelayhost = ${edge.relayHost}\n`}
minimal_backoff_time = 300s
maximal_backoff_time = 4000s
queue_run_delay = 300s
maximal_queue_lifetime = 5d
bounce_queue_lifetime = 1d
`
}

const policy = ({ policies }: EdgeSettings, port: number) =>
  `check_policy_service { inet:${policies.host}:${port}, default_action=${
    policies.failOpen ? 'DUNNO' : '451 4.3.5 Policy service unavailable'
  }, timeout=5s, try_limit=1 }`

/**
 * A process of smtpd keeps what it has learned about a domain for as long as it lives: each serves
 * one connection, so that a domain is known as soon as it is made.
 */
const services = (edge: EdgeSettings): string => {
  const { ports, publicAddress, privateAddress } = edge
  const at = (port: number, address = publicAddress) =>
    address === '*' ? port : `${address}:${port}`
  const fresh = '  -o max_use=1'
  return `# Written by mailplane; changes here are lost.
# service type private unpriv chroot wakeup maxproc command
${at(ports.smtp)} inet n - n - - smtpd
  -o syslog_name=postfix/mx
${fresh}
  -o smtpd_recipient_restrictions=$mx_recipient_restrictions
${at(ports.submission)} inet n - n - - smtpd
  -o syslog_name=postfix/submission
${fresh}
  -o smtpd_tls_security_level=encrypt
${submissionOptions}
${at(ports.smtps)} inet n - n - - smtpd
  -o syslog_name=postfix/smtps
${fresh}
  -o smtpd_tls_wrappermode=yes
${submissionOptions}
# What filters of mailboxes send on and answer. Nothing is counted or signed here a second time.
${at(ports.reinject, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/reinject
${fresh}
  -o smtpd_client_restrictions=permit_mynetworks,reject
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_recipient_restrictions=permit_mynetworks,reject
  -o smtpd_milters=
${INTERNAL_SERVICES}`
}

// The queue id is there from the sender on, so that a refused recipient is logged with the login.
const submissionOptions = `  -o smtpd_tls_auth_only=yes
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_delay_open_until_valid_rcpt=no
  -o smtpd_sender_login_maps=$sender_login_maps
  -o smtpd_sender_restrictions=$submission_sender_restrictions
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
  -o smtpd_recipient_restrictions=$submission_recipient_restrictions
  -o smtpd_end_of_data_restrictions=$submission_end_of_data_restrictions
  -o milter_macro_daemon_name=ORIGINATING`

const INTERNAL_SERVICES = `pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`
