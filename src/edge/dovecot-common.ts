import { SNI_BLOCKS } from '../mail/server-certificates.files.ts'
import { type EdgeSettings, isBackend, isFront, SYSTEM_ROOTS } from './settings.ts'

/** All characters that can occur in a mailbox address or a login of this installation. */
const LOGIN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-@'

/** The settings that every Dovecot of this installation has. */
export const head = (
  edge: EdgeSettings,
  protocols: string,
): string => `base_dir = ${edge.folders.dovecotRun}
state_dir = ${edge.folders.dovecotState}
log_path = ${edge.folders.logs}/dovecot.log
log_timestamp = "%Y-%m-%dT%H:%M:%SZ "
protocols = ${protocols}
listen = ${edge.publicAddress === '*' ? '*, ::' : edge.publicAddress}
default_vsz_limit = 512 M
# Sessions go on while Dovecot reloads for a new certificate.
shutdown_clients = no

ssl = ${edge.isPrivate ? 'yes' : 'required'}
ssl_cert = <${edge.tls.certificate}
ssl_key = <${edge.tls.key}
ssl_min_protocol = TLSv1.2
# The certificates by name, which the control plane writes.
!include_try ${edge.folders.sni}/${SNI_BLOCKS}
disable_plaintext_auth = yes
${edge.host ? `ssl_client_ca_file = ${SYSTEM_ROOTS}\n` : ''}
# The control plane may pass the IP address of the client (ID "x-originating-ip"), so that failed
# logins count against the client and not against the control plane.
login_trusted_networks = ${edge.trustedNetworks.join(' ')}

auth_mechanisms = plain login xoauth2 oauthbearer
auth_username_chars = ${LOGIN_CHARACTERS}
auth_username_format = %Lu
auth_master_user_separator = *
auth_verbose = yes
auth_cache_size = 32 M
auth_cache_ttl = 1 hour
# A new or enabled login works at once.
auth_cache_negative_ttl = 0
${edge.isPrivate ? 'auth_failure_delay = 0' : 'auth_failure_delay = 2 secs'}
${isBackend(edge) ? '' : authPolicy(edge)}`

export const logins = (
  edge: EdgeSettings,
): string => `# Mailboxes log in to every service, SMTP credentials only to Postfix. The master login is for
# filters and, from the control plane only, for exporting mail.
${isFront(edge) ? backendOfMaster(edge) : ''}passdb {
  driver = sql
  mechanisms = plain login
  args = ${edge.folders.dovecotConfig}/sql-app-password.conf.ext
  # Most logins are by another password, so its failure is no news.
  auth_verbose = no
}
passdb {
  driver = sql
  mechanisms = plain login
  args = ${edge.folders.dovecotConfig}/sql-mailbox.conf.ext
}
# Dovecot hands an access token to any password database; the oauth2 driver beside SQL crashes in 2.3.
passdb {
  driver = sql
  mechanisms = xoauth2 oauthbearer
  args = ${edge.folders.dovecotConfig}/sql-token.conf.ext
}
protocol smtp {
  passdb {
    driver = sql
    mechanisms = plain login
    args = ${edge.folders.dovecotConfig}/sql-smtp.conf.ext
  }
}
protocol sieve {
  ssl = required
  passdb {
    driver = passwd-file
    master = yes
    args = ${edge.folders.dovecotConfig}/master-users${continued(edge)}
  }
}
protocol imap {
  passdb {
    driver = passwd-file
    master = yes
    args = ${edge.folders.dovecotConfig}/master-users
    override_fields = allow_nets=${edge.trustedNetworks.join(',')}${continued(edge)}
  }
}
${isFront(edge) ? '' : userdb(edge)}`

const userdb = (edge: EdgeSettings) => `userdb {
  driver = sql
  args = ${edge.folders.dovecotConfig}/sql-mailbox.conf.ext
}
`

const continued = (edge: EdgeSettings) => (isFront(edge) ? '\n    result_success = continue' : '')

// A master login has proven its password; this finds the backend, and knows no other login.
const backendOfMaster = (edge: EdgeSettings) => `passdb {
  driver = sql
  auth_verbose = no
  args = ${edge.folders.dovecotConfig}/sql-master.conf.ext
}
`

// A proxy has verified the login. The client may be anywhere, the proxy is in a trusted network.
export const backendLogins = (edge: EdgeSettings): string => `passdb {
  driver = passwd-file
  master = yes
  args = ${edge.folders.dovecotConfig}/master-users
  override_fields = allow_real_nets=${edge.trustedNetworks.join(',')}
}
# Dovecot starts with a password database only; this one knows no login.
passdb {
  driver = passwd-file
  args = /dev/null
}
${userdb(edge)}`

/** A private edge has no named mail user, so its sockets are open to all local users. */
export const forMailProcesses = ({ isPrivate }: EdgeSettings) =>
  isPrivate ? '    mode = 0666' : '    mode = 0660\n    group = vmail'

export const listener = (
  name: string,
  port: number,
  ...more: string[]
) => `  inet_listener ${name} {
    port = ${port}
${more.map((line) => `    ${line}\n`).join('')}  }`

/** The API key gives access to every mailbox, so it is encrypted outside of loopback. */
const doveadmTls = ({ privateAddress }: EdgeSettings) =>
  privateAddress.startsWith('127.') ? [] : ['ssl = yes']

export const quotaStatus = (edge: EdgeSettings): string => `service quota-status {
  executable = quota-status -p postfix
  client_limit = 1
${listener('policy', edge.ports.quota, `address = ${edge.privateAddress}`)}
}
`

export const administration = (edge: EdgeSettings): string => `doveadm_api_key = ${edge.doveadmKey}
${isBackend(edge) ? `doveadm_password = ${edge.host?.syncPassword}\n` : ''}service doveadm {
${listener('http', edge.ports.doveadm, `address = ${edge.privateAddress}`, ...doveadmTls(edge))}${
  isBackend(edge)
    ? `\n${listener('sync', edge.ports.sync, `address = ${edge.privateAddress}`, ...doveadmTls(edge))}`
    : ''
}
}
`

// All clients of a private edge share one IP address; the penalty would delay all of them.
export const withoutPenalty = `service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
`

// `user` and `master` distinguish a master login from a login of the owner: Dovecot has the name of
// the master user in `user` before it verifies the master password, and in `master_user` afterwards.
// `matched` is empty unless the password was right, because Dovecot drops the fields of a failed look-up.
function authPolicy({ policies }: EdgeSettings): string {
  if (policies.authPort === undefined) return ''
  return `auth_policy_server_url = http://${policies.host}:${policies.authPort}/auth-policy
auth_policy_server_api_header = X-Edge-Key: ${policies.authKey}
auth_policy_server_timeout_msecs = 2000
auth_policy_hash_nonce = ${policies.authKey}
auth_policy_hash_truncate = 12
auth_policy_request_attributes = login=%{requested_username} user=%{user} master=%{master_user} pwhash=%{hashed_password} remote=%{rip} device_id=%{client_id} protocol=%s mech=%m session_id=%{session} matched=%{passdb:matched}
# Dovecot could only answer that the password is wrong, which a client takes as final.
auth_policy_reject_on_fail = no
`
}
