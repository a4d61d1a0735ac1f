import type { EdgeSettings } from './settings.ts'

/**
 * A process of smtpd keeps what it has learned about a domain for as long as it lives: each serves
 * one connection, so that a domain is known as soon as it is made.
 */
export function postfixServices(edge: EdgeSettings): string {
  const { ports, publicAddress, privateAddress } = edge
  const at = (port: number, address = publicAddress) =>
    address === '*' ? port : `${address}:${port}`
  const fresh = '  -o max_use=1'
  const filtered = filterOptions(edge)
  const submission = `${submissionOptions}${filtered}${
    edge.contentFilter ? '\n  -o smtpd_data_restrictions=check_sasl_access,$origin_map' : ''
  }`
  return `# Written by mailplane; changes here are lost.
# service type private unpriv chroot wakeup maxproc command
${at(ports.smtp)} inet n - n - - smtpd
  -o syslog_name=postfix/mx
${fresh}
  -o smtpd_recipient_restrictions=$mx_recipient_restrictions
  -o message_size_limit=$public_message_size_limit${filtered}
${at(ports.submission)} inet n - n - - smtpd
  -o syslog_name=postfix/submission
${fresh}
  -o smtpd_tls_security_level=encrypt
${submission}
${at(ports.smtps)} inet n - n - - smtpd
  -o syslog_name=postfix/smtps
${fresh}
  -o smtpd_tls_wrappermode=yes
${submission}
# The services of the installation, which need no login.
${at(ports.internal, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/internal
${fresh}
  -o mynetworks=$private_networks
  -o smtpd_delay_open_until_valid_rcpt=no
  -o smtpd_client_restrictions=permit_mynetworks,reject
  -o smtpd_sender_restrictions=$internal_sender_restrictions
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_recipient_restrictions=$internal_recipient_restrictions
  -o smtpd_end_of_data_restrictions=$internal_end_of_data_restrictions
  -o message_size_limit=$public_message_size_limit
  -o milter_macro_daemon_name=ORIGINATING${filtered}${
    edge.contentFilter ? '\n  -o smtpd_data_restrictions=check_sender_access,$origin_map' : ''
  }
# What the content filter has passed, what was held back and is let go, and what filters of mailboxes
# send on and answer. Nothing is counted or signed here a second time.
${at(ports.reinject, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/reinject
${fresh}
${behindFilter}
  -o smtpd_milters=
# What logins have sent, from the content filter: it is signed for whom the filter names.
${at(ports.filtered, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/filtered
${fresh}
${behindFilter}
  -o smtpd_authorized_xclient_hosts=$private_networks
  -o smtpd_sasl_auth_enable=yes
  -o milter_macro_daemon_name=ORIGINATING
${INTERNAL_SERVICES}`
}

const behindFilter = `  -o mynetworks=$private_networks
  -o smtpd_client_restrictions=permit_mynetworks,reject
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_recipient_restrictions=permit_mynetworks,reject
  -o smtpd_authorized_xforward_hosts=$private_networks`

/** A milter would see no message here: it comes behind the filter, which has no use for chunks. */
const filterOptions = ({ contentFilter }: EdgeSettings): string =>
  contentFilter === undefined
    ? ''
    : `
  -o smtpd_proxy_filter=${contentFilter.host}:${contentFilter.port}
  -o smtpd_milters=
  -o smtpd_discard_ehlo_keywords=chunking,silent-discard`

// The queue id is there from the sender on, so that a refused recipient is logged with the login.
const submissionOptions = `  -o smtpd_tls_auth_only=yes
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_delay_open_until_valid_rcpt=no
  -o smtpd_sender_login_maps=$sender_login_maps
  -o smtpd_sender_restrictions=$submission_sender_restrictions
  -o smtpd_relay_restrictions=permit_sasl_authenticated,reject
  -o smtpd_recipient_restrictions=$submission_recipient_restrictions
  -o smtpd_end_of_data_restrictions=$submission_end_of_data_restrictions
  -o message_size_limit=$public_message_size_limit
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
