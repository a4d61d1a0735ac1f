import { KEPT_PREFIX } from '../mail/kept-folders.ts'
import { SNI_BLOCKS } from '../mail/server-certificates.files.ts'
import {
  appPasswordQuery,
  credentialQuery,
  mailboxQueries,
  OPERATOR_RIGHTS_FILE,
  quotaDictionary,
  shareDictionary,
  tokenQuery,
} from './dovecot-queries.ts'
import { type EdgeSettings, MAIL_UID, type RenderedFile } from './settings.ts'

/** The configuration of Dovecot 2.3: mailboxes, their logins, and the logins of Postfix. */
export function dovecotFiles(edge: EdgeSettings): RenderedFile[] {
  return [
    // Contains the key of the administration interface.
    { name: 'dovecot.conf', text: main(edge), readers: 'none' },
    { name: 'sql-mailbox.conf.ext', text: mailboxQueries(edge), readers: 'dovecot' },
    { name: 'sql-app-password.conf.ext', text: appPasswordQuery(edge), readers: 'dovecot' },
    { name: 'sql-token.conf.ext', text: tokenQuery(edge), readers: 'dovecot' },
    { name: 'sql-smtp.conf.ext', text: credentialQuery(edge), readers: 'dovecot' },
    { name: 'dict-quota.conf.ext', text: quotaDictionary(edge), readers: 'dovecot' },
    { name: SPAM_SCRIPT, text: SPAM_TO_JUNK, readers: 'all' },
    { name: OWNER_RIGHTS_FILE, text: OWNER_RIGHTS + KEPT_RIGHTS, readers: 'all' },
    { name: OPERATOR_RIGHTS_FILE, text: OWNER_RIGHTS, readers: 'all' },
    { name: 'dict-acl.conf.ext', text: shareDictionary(edge), readers: 'dovecot' },
    {
      name: 'master-users',
      text: `${edge.master.user}:${edge.master.passwordHash}\n`,
      readers: 'dovecot',
    },
  ]
}

/** The Sieve script for all mailboxes; `sievec` must compile it, because deliveries may not. */
export const SPAM_SCRIPT = 'spam.sieve'
const SPAM_TO_JUNK = `require ["fileinto", "mailbox"];
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; }
`

/** All characters that can occur in a mailbox address or a login of this installation. */
const LOGIN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-@'

const main = (edge: EdgeSettings): string => `# Written by mailplane; changes here are lost.
base_dir = ${edge.folders.dovecotRun}
state_dir = ${edge.folders.dovecotState}
log_path = ${edge.folders.logs}/dovecot.log
log_timestamp = "%Y-%m-%dT%H:%M:%SZ "
protocols = imap pop3 lmtp sieve
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
${authPolicy(edge)}
# Mailboxes log in to every service, SMTP credentials only to Postfix. The master login is for
# filters and, from the control plane only, for exporting mail.
passdb {
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
# The state of INBOX comes from the index of folders, as of all others: JMAP asks with each request.
mailbox_list_index_include_inbox = yes
mail_plugins = quota quota_clone acl lazy_expunge
# The database separates +detail from the address, because a mailbox may have a plus in its name.
recipient_delimiter =
lmtp_save_to_detail_mailbox = no
hostname = ${edge.hostname}
postmaster_address = postmaster@${edge.hostname}
submission_host = ${edge.privateAddress}:${edge.ports.automatic}

namespace inbox {
  type = private
  separator = /
  inbox = yes
${['Junk', 'Sent', 'Drafts', 'Trash'].map(folder).join('\n')}
}
# Messages that the holder of a mailbox under a legal hold expunged; see user_query.
namespace kept {
  type = private
  separator = /
  prefix = ${KEPT_PREFIX}
  location = maildir:~/kept
  hidden = yes
  list = no
  subscriptions = no
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
  # Without the namespace of expunged messages.
  quota = count:User quota:ns=
  quota_vsizes = yes
  quota_rule = *:bytes=0
  quota_grace = 0%%
  quota_status_success = DUNNO
  quota_status_nouser = DUNNO
  quota_status_overquota = "552 5.2.2 Mailbox is full"
  quota_clone_dict = proxy::quota

  acl = vfile:${edge.folders.dovecotConfig}/${OWNER_RIGHTS_FILE}
  # A right on the inbox of a shared mailbox applies to all of its folders.
  acl_defaults_from_inbox = yes
  acl_shared_dict = proxy::acl
  # The master login has the rights of the mailbox.
  acl_user = %u

  sieve = file:~/sieve;active=~/.dovecot.sieve
  # Runs after the rules of the mailbox, for mail that they keep in the inbox.
  sieve_after = ${edge.folders.dovecotConfig}/${SPAM_SCRIPT}
  sieve_max_script_size = 1M
  sieve_max_actions = 64
  # Applies at delivery, not at upload, so it must exceed the limits of the API.
  sieve_max_redirects = ${SIEVE_MAX_REDIRECTS}
  sieve_vacation_min_period = 1d
  sieve_vacation_default_period = 1d
  # Forward with the mailbox as sender, so that SPF passes and bounces return to it.
  sieve_redirect_envelope_from = recipient
${edge.contentFilter === undefined ? '' : replySender}  # Mail to any address, without a limit of its own.
  sieve_extensions = -enotify
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
  # Mail processes look up the folder of a shared mailbox here.
  unix_listener auth-userdb {
${forMailProcesses(edge)}
  }
}
service dict {
  unix_listener dict {
${forMailProcesses(edge)}
  }
}
# doveadm ends sessions here, also after it worked as the mail user.
service anvil {
  unix_listener anvil {
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

const replySender = `  # Tells Postfix which mailbox replies; the content filter removes the sender again.
  sieve_vacation_send_from_recipient = yes
`

const OWNER_RIGHTS_FILE = 'owner-rights.acl'

// All rights but "a" (administer): with SETACL a holder could put a folder into the list of every
// other mailbox of this host. The control plane sets rights with doveadm, which needs no right.
const OWNER_RIGHTS = '* owner lrwstipekx\n'

// Negative rights: the owner of a mailbox under a legal hold neither sees nor deletes the kept messages.
const KEPT_RIGHTS = `${KEPT_PREFIX}* -owner lrwstipekxa
${KEPT_PREFIX.replace(/\/$/, '')} -owner lrwstipekxa
`

/** Allows the five addresses of forwarding and the redirects of rules. */
const SIEVE_MAX_REDIRECTS = 32

const folder = (name: string) => `  mailbox ${name} {
    auto = subscribe
    special_use = \\${name}
  }`

/** A private edge has no named mail user, so its sockets are open to all local users. */
const forMailProcesses = ({ isPrivate }: EdgeSettings) =>
  isPrivate ? '    mode = 0666' : '    mode = 0660\n    group = vmail'

const listener = (name: string, port: number, ...more: string[]) => `  inet_listener ${name} {
    port = ${port}
${more.map((line) => `    ${line}\n`).join('')}  }`

/** The API key gives access to every mailbox, so it is encrypted outside of loopback. */
const doveadmTls = ({ privateAddress }: EdgeSettings) =>
  privateAddress.startsWith('127.') ? [] : ['ssl = yes']

// All clients of a private edge share one IP address; the penalty would delay all of them.
const withoutPenalty = `service anvil {
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
