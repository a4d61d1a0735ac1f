import { KEPT_PREFIX } from '../mail/kept-folders.ts'
import {
  administration,
  backendLogins,
  forMailProcesses,
  head,
  listener,
  logins,
  quotaStatus,
  withoutPenalty,
} from './dovecot-common.ts'
import { dovecotProxyFiles } from './dovecot-proxy.ts'
import {
  appPasswordQuery,
  credentialQuery,
  mailboxQueries,
  OPERATOR_RIGHTS_FILE,
  quotaDictionary,
  shareDictionary,
  tokenQuery,
} from './dovecot-queries.ts'
import {
  type EdgeSettings,
  hasPeers,
  isBackend,
  isFront,
  MAIL_UID,
  type RenderedFile,
} from './settings.ts'

/** The configuration of Dovecot 2.3: mailboxes, their logins, and the logins of Postfix. */
export function dovecotFiles(edge: EdgeSettings): RenderedFile[] {
  if (isFront(edge)) return dovecotProxyFiles(edge)
  if (edge.host && !isBackend(edge)) return []
  return [
    // Contains the key of the administration interface.
    { name: 'dovecot.conf', text: main(edge), readers: 'none' },
    { name: 'sql-mailbox.conf.ext', text: mailboxQueries(edge), readers: 'dovecot' },
    ...(isBackend(edge) ? [] : loginQueries(edge)),
    { name: 'dict-quota.conf.ext', text: quotaDictionary(edge), readers: 'dovecot' },
    { name: SPAM_SCRIPT, text: SPAM_TO_JUNK, readers: 'all' },
    { name: OWNER_RIGHTS_FILE, text: OWNER_RIGHTS + KEPT_RIGHTS, readers: 'all' },
    { name: OPERATOR_RIGHTS_FILE, text: OWNER_RIGHTS, readers: 'all' },
    { name: 'dict-acl.conf.ext', text: shareDictionary(edge), readers: 'dovecot' },
    {
      name: 'master-users',
      text: masterUsers(edge),
      readers: 'dovecot',
    },
  ]
}

const loginQueries = (edge: EdgeSettings): RenderedFile[] => [
  { name: 'sql-app-password.conf.ext', text: appPasswordQuery(edge), readers: 'dovecot' },
  { name: 'sql-token.conf.ext', text: tokenQuery(edge), readers: 'dovecot' },
  { name: 'sql-smtp.conf.ext', text: credentialQuery(edge), readers: 'dovecot' },
]

function masterUsers({ host, master }: EdgeSettings): string {
  const line = `${master.user}:${master.passwordHash}\n`
  return host ? `${line}${host.proxy.user}:{PLAIN}${host.proxy.password}\n` : line
}

/** The Sieve script for all mailboxes; `sievec` must compile it, because deliveries may not. */
export const SPAM_SCRIPT = 'spam.sieve'
const SPAM_TO_JUNK = `require ["fileinto", "mailbox"];
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; }
`

const PROTOCOLS = 'imap pop3 lmtp sieve'

const main = (edge: EdgeSettings): string => `# Written by mailplane; changes here are lost.
${head(edge, PROTOCOLS)}
${isBackend(edge) ? backendLogins(edge) : logins(edge)}
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
submission_host = ${edge.host?.automaticHost || `${edge.privateAddress}:${edge.ports.automatic}`}
${hasPeers(edge) ? 'submission_ssl = starttls\n' : ''}
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
# With the index of folders of its owner, STATUS would answer without a look at the rights.
namespace shared {
  type = shared
  separator = /
  prefix = Shared/%%u/
  location = maildir:%%h/Maildir:INDEXPVT=~/shared/%%u:LISTINDEX=~/shared/%%u/dovecot.list.index
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
${isBackend(edge) ? '' : '  quota_clone_dict = proxy::quota\n'}
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
${isBackend(edge) ? forMoves : ''}
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
${isBackend(edge) ? '' : `${listener('sasl', edge.ports.sasl, `address = ${edge.privateAddress}`)}\n`}  # Mail processes look up the folder of a shared mailbox here.
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
${isBackend(edge) ? '' : quotaStatus(edge)}${administration(edge)}${edge.isPrivate ? withoutPenalty : ''}`

// A move waits until deliveries have ended; Dovecot counts those of a mailbox only under a limit.
const forMoves = 'lmtp_user_concurrency_limit = 100\n'

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
