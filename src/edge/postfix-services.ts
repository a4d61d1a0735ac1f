import type { EdgeSettings, HostRole } from './settings.ts'

/**
 * An smtpd process caches domain look-ups for its lifetime. Each process serves one connection
 * (max_use=1), so that Postfix accepts mail for a new domain at once.
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
  const has = (role: HostRole) => edge.host === undefined || edge.host.roles.includes(role)
  const mx = `${at(ports.smtp)} inet n - n - - smtpd
  -o syslog_name=postfix/mx
${fresh}
  -o smtpd_recipient_restrictions=$mx_recipient_restrictions
  -o message_size_limit=$public_message_size_limit${filtered}
`
  const logins = `${at(ports.submission)} inet n - n - - smtpd
  -o syslog_name=postfix/submission
${fresh}
  -o smtpd_tls_security_level=encrypt
${submission}
${at(ports.smtps)} inet n - n - - smtpd
  -o syslog_name=postfix/smtps
${fresh}
  -o smtpd_tls_wrappermode=yes
${submission}
`
  return `# Written by mailplane; changes here are lost.
# service type private unpriv chroot wakeup maxproc command
${has('mx') ? mx : ''}${has('submission') ? logins : ''}# Mail of the installation's own services, which need no login.
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
# Redirects and replies of mailbox filters. They count for the mailbox that causes them.
${at(ports.automatic, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/automatic
${fresh}
  -o mynetworks=$private_networks
  -o smtpd_delay_open_until_valid_rcpt=no
  -o smtpd_client_restrictions=permit_mynetworks,reject
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_recipient_restrictions=$automatic_recipient_restrictions
  -o smtpd_end_of_data_restrictions=$automatic_end_of_data_restrictions${filtered}${
    edge.contentFilter
      ? '\n  -o smtpd_data_restrictions=check_sender_access,$automatic_origin_map'
      : '\n  -o smtpd_milters='
  }
# Mail from the content filter without a login, and released mail. It is neither counted nor signed
# here.
${at(ports.reinject, privateAddress)} inet n - n - - smtpd
  -o syslog_name=postfix/reinject
${fresh}
${behindFilter}
  -o smtpd_milters=
# Mail of logins from the content filter. It is signed for the login that the filter passes.
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
  -o smtpd_helo_restrictions=$filtered_helo_restrictions
  -o smtpd_relay_restrictions=permit_mynetworks,reject
  -o smtpd_recipient_restrictions=permit_mynetworks,reject
  -o smtpd_authorized_xforward_hosts=$private_networks`

/** The milter runs on the listeners behind the filter. The filter does not support CHUNKING. */
const filterOptions = ({ contentFilter }: EdgeSettings): string =>
  contentFilter === undefined
    ? ''
    : `
  -o smtpd_proxy_filter=${contentFilter.host}:${contentFilter.port}
  -o smtpd_milters=
  -o smtpd_discard_ehlo_keywords=chunking,silent-discard`

// Assign the queue id at MAIL FROM, so that a refused recipient is logged together with the login.
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
