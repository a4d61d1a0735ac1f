import type { DatabaseAddress } from './database-role.ts'
import { type EdgeSettings, MAIL_UID, type RenderedFile } from './settings.ts'

/** The configuration of Dovecot 2.3: mailboxes, their logins, and the logins of Postfix. */
export function dovecotFiles(edge: EdgeSettings): RenderedFile[] {
  return [
    // It holds the key of the administration interface.
    { name: 'dovecot.conf', text: main(edge), readers: 'none' },
    { name: 'sql-mailbox.conf.ext', text: mailboxQueries(edge), readers: 'dovecot' },
    { name: 'sql-smtp.conf.ext', text: credentialQuery(edge), readers: 'dovecot' },
    { name: 'dict-quota.conf.ext', text: quotaDictionary(edge), readers: 'dovecot' },
    { name: 'dict-acl.conf.ext', text: shareDictionary(edge), readers: 'dovecot' },
    {
      name: 'master-users',
      text: `${edge.master.user}:${edge.master.passwordHash}\n`,
      readers: 'dovecot',
    },
  ]
}

/** Every character of an address or a login that this host gives out, and no other. */
const LOGIN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-@'

const main = (edge: EdgeSettings): string => `# Written by mailplane; changes here are lost.
base_dir = ${edge.folders.dovecotRun}
state_dir = ${edge.folders.dovecotState}
log_path = ${edge.folders.logs}/dovecot.log
log_timestamp = "%Y-%m-%dT%H:%M:%SZ "
protocols = imap pop3 lmtp sieve
listen = ${edge.publicAddress === '*' ? '*, ::' : edge.publicAddress}
default_vsz_limit = 512 M
shutdown_clients = yes

ssl = ${edge.isPrivate ? 'yes' : 'required'}
ssl_cert = <${edge.tls.certificate}
ssl_key = <${edge.tls.key}
ssl_min_protocol = TLSv1.2
disable_plaintext_auth = yes

# From here a login may say whom it is for (ID "x-originating-ip"): failures are then counted
# against the client and not against the control plane.
login_trusted_networks = ${edge.trustedNetworks.join(' ')}

auth_mechanisms = plain login
auth_username_chars = ${LOGIN_CHARACTERS}
auth_username_format = %Lu
auth_master_user_separator = *
auth_verbose = yes
auth_cache_size = 32 M
auth_cache_ttl = 1 hour
# What is made or enabled works at once.
auth_cache_negative_ttl = 0
# A cached login still costs one hash; not in the one process that all logins go through.
auth_cache_verify_password_with_worker = yes
${edge.isPrivate ? 'auth_failure_delay = 0' : 'auth_failure_delay = 2 secs'}
${authPolicy(edge)}
# Mailboxes log in everywhere. Credentials exist for Postfix alone. The master login is for filters,
# and for reading mail that somebody has a right to have exported; that only from the control plane.
passdb {
  driver = sql
  args = ${edge.folders.dovecotConfig}/sql-mailbox.conf.ext
}
protocol smtp {
  passdb {
    driver = sql
    args = ${edge.folders.dovecotConfig}/sql-smtp.conf.ext
  }
}
protocol sieve {
  ssl = required
  passdb {
    driver = passwd-file
    master = yes
    args = ${edge.folders.dovecotConfig}/master-users
  }
}
protocol imap {
  passdb {
    driver = passwd-file
    master = yes
    args = ${edge.folders.dovecotConfig}/master-users
    override_fields = allow_nets=${edge.trustedNetworks.join(',')}
  }
}
userdb {
  driver = sql
  args = ${edge.folders.dovecotConfig}/sql-mailbox.conf.ext
}

mail_uid = ${MAIL_UID}
mail_gid = ${MAIL_UID}
first_valid_uid = ${MAIL_UID}
first_valid_gid = ${MAIL_UID}
mail_location = maildir:~/Maildir
mail_plugins = quota quota_clone acl
# Which part of an address is detail, the database says: a mailbox may have a plus in its name.
recipient_delimiter =
lmtp_save_to_detail_mailbox = no
hostname = ${edge.hostname}
postmaster_address = postmaster@${edge.hostname}
submission_host = ${edge.privateAddress}:${edge.ports.reinject}

namespace inbox {
  type = private
  separator = /
  inbox = yes
${['Junk', 'Sent', 'Drafts', 'Trash'].map(folder).join('\n')}
}
namespace shared {
  type = shared
  separator = /
  prefix = Shared/%%u/
  location = maildir:%%h/Maildir:INDEXPVT=~/shared/%%u
  subscriptions = no
  list = children
}

plugin {
  quota = count:User quota
  quota_vsizes = yes
  quota_rule = *:bytes=0
  quota_grace = 0%%
  quota_status_success = DUNNO
  quota_status_nouser = DUNNO
  quota_status_overquota = "552 5.2.2 Mailbox is full"
  quota_clone_dict = proxy::quota

  acl = vfile
  # A right on the inbox of a shared mailbox is one on all of its folders.
  acl_defaults_from_inbox = yes
  acl_shared_dict = proxy::acl
  # Who comes with the master login has the rights of the mailbox, not those of a stranger.
  acl_user = %u

  sieve = file:~/sieve;active=~/.dovecot.sieve
  sieve_max_script_size = 1M
  sieve_max_actions = 64
  # A limit at delivery, not at upload: it must hold whatever the API accepts.
  sieve_max_redirects = ${SIEVE_MAX_REDIRECTS}
  sieve_vacation_min_period = 1d
  sieve_vacation_default_period = 1d
  # The mailbox forwards in its own name, so that SPF holds and bounces come home.
  sieve_redirect_envelope_from = recipient
}
dict {
  quota = pgsql:${edge.folders.dovecotConfig}/dict-quota.conf.ext
  acl = pgsql:${edge.folders.dovecotConfig}/dict-acl.conf.ext
}
protocol imap {
  mail_plugins = $mail_plugins imap_quota imap_acl
  mail_max_userip_connections = 50
}
protocol lmtp {
  mail_plugins = $mail_plugins sieve
}

service imap-login {
${listener('imap', edge.ports.imap)}
${listener('imaps', edge.ports.imaps, 'ssl = yes')}
}
service pop3-login {
${listener('pop3', edge.ports.pop3)}
${listener('pop3s', edge.ports.pop3s, 'ssl = yes')}
}
service managesieve-login {
${listener('sieve', edge.ports.sieve)}
}
service lmtp {
${listener('lmtp', edge.ports.lmtp, `address = ${edge.privateAddress}`)}
}
service auth {
${listener('sasl', edge.ports.sasl, `address = ${edge.privateAddress}`)}
  # Whoever opens a shared mailbox looks up where it is kept.
  unix_listener auth-userdb {
${forMailProcesses(edge)}
  }
}
service auth-worker {
  user = $default_internal_user
}
service dict {
  unix_listener dict {
${forMailProcesses(edge)}
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
service quota-status {
  executable = quota-status -p postfix
  client_limit = 1
${listener('policy', edge.ports.quota, `address = ${edge.privateAddress}`)}
}
doveadm_api_key = ${edge.doveadmKey}
service doveadm {
${listener('http', edge.ports.doveadm, `address = ${edge.privateAddress}`, ...doveadmTls(edge))}
}
${edge.isPrivate ? withoutPenalty : ''}`

/** Forwarding takes five addresses, and rules have redirects of their own. */
export const SIEVE_MAX_REDIRECTS = 32

const folder = (name: string) => `  mailbox ${name} {
    auto = subscribe
    special_use = \\${name}
  }`

/** A host has a group for those who handle mail; on a private edge, whose users have no names, all may. */
const forMailProcesses = ({ isPrivate }: EdgeSettings) =>
  isPrivate ? '    mode = 0666' : '    mode = 0660\n    group = vmail'

const listener = (name: string, port: number, ...more: string[]) => `  inet_listener ${name} {
    port = ${port}
${more.map((line) => `    ${line}\n`).join('')}  }`

/** The key of that interface is worth every mailbox; off loopback it travels encrypted. */
const doveadmTls = ({ privateAddress }: EdgeSettings) =>
  privateAddress.startsWith('127.') ? [] : ['ssl = yes']

// Whoever tries a private edge comes from one address, which a few wrong passwords would slow down.
const withoutPenalty = `service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
`

function authPolicy({ policies }: EdgeSettings): string {
  if (policies.authPort === undefined) return ''
  return `auth_policy_server_url = http://${policies.host}:${policies.authPort}/auth-policy
auth_policy_server_api_header = X-Edge-Key: ${policies.authKey}
auth_policy_server_timeout_msecs = 2000
auth_policy_hash_nonce = ${policies.authKey}
auth_policy_hash_truncate = 12
auth_policy_reject_on_fail = ${policies.failOpen ? 'no' : 'yes'}
`
}

const connection = ({ host, port, name, user, password }: DatabaseAddress) =>
  `connect = host=${quoted(host)} port=${port} dbname=${quoted(name)} user=${user} password=${password}`

/** As libpq reads it. */
const quoted = (text: string) =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replace(/[\\']/g, '\\$&')}'`

// Values arrive escaped: Dovecot quotes what it puts between these marks. Every query names %u, or
// a flush of the login would not find it in the cache.
const mailboxQueries = ({
  database,
  folders,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
default_pass_scheme = ARGON2ID
password_query = SELECT username AS user, password FROM edge.mailbox_password('%u')
user_query = SELECT username AS user, '${folders.mail}/' || folder AS home, ${MAIL_UID} AS uid, ${MAIL_UID} AS gid, quota_rule FROM edge.mailbox('%u')
iterate_query = SELECT username AS user FROM edge.all_mailboxes()
`

// With %r the address is part of the cache's key: what one may, another may not.
const credentialQuery = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
default_pass_scheme = BLF-CRYPT
password_query = SELECT username AS user, password FROM edge.smtp_credential('%u', '%s', '%r')
`

const quotaDictionary = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
${connection(database)}
${['storage bytes', 'messages messages']
  .map((pair) => pair.split(' '))
  .map(
    ([path, field]) => `map {
  pattern = priv/quota/${path}
  table = edge.quota_usage
  username_field = username
  value_field = ${field}
}
`,
  )
  .join('')}`

const shareDictionary = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
${connection(database)}
map {
  pattern = shared/shared-boxes/user/$to/$from
  table = edge.user_shares
  value_field = dummy
  fields {
    from_user = $from
    to_user = $to
  }
}
map {
  pattern = shared/shared-boxes/anyone/$from
  table = edge.anyone_shares
  value_field = dummy
  fields {
    from_user = $from
  }
}
`
