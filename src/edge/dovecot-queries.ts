import { KEPT_PREFIX } from '../mail/kept-folders.ts'
import type { DatabaseAddress } from './database-role.ts'
import { type EdgeSettings, MAIL_UID } from './settings.ts'

/** The rights of the control plane on all folders. */
export const OPERATOR_RIGHTS_FILE = 'operator-rights.acl'

// Dovecot repeats a query that lost its connection as often as there are hosts, and then gives up: Postfix
// knows no temporary failure of a login and answers that the password is wrong. With one connection
// for each host a query outlives all connections that a shutdown ends, and waits for the next one.
const CONNECTIONS = 3

const connection = ({ host, port, name, user, password }: DatabaseAddress) => {
  const hosts = Array(CONNECTIONS)
    .fill(`host=${quoted(host)}`)
    .join(' ')
  return `connect = ${hosts} maxconns=1 port=${port} dbname=${quoted(name)} user=${user} password=${password}`
}

/** Quotes a value of a libpq connection string. */
const quoted = (text: string) =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replace(/[\\']/g, '\\$&')}'`

const BY_CONTROL_PLANE = "('%s' = 'doveadm' OR '%{master_user}' <> '')"

// Dovecot escapes the values that it inserts. Every query contains %u, because the cache key must
// contain the login for a flush to find it.
//
// lazy_expunge is set for a mailbox under a legal hold: an expunged message moves to the kept folders. The
// control plane, over doveadm and with the master login, can read and delete them. Only doveadm lists them,
// so that work with the master login, such as the search index, does not come across them.
export const mailboxQueries = ({
  database,
  folders,
  loginKey,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
default_pass_scheme = ARGON2ID
password_query = SELECT username AS user, password, matched, nologin, reason FROM edge.mailbox_login('%u', '%{passdb:forward_key}' = '${loginKey}', '%s')
user_query = SELECT username AS user, '${folders.mail}/' || folder AS home, ${MAIL_UID} AS uid, ${MAIL_UID} AS gid, quota_rule, CASE WHEN edge.keeps_expunged(username) THEN '${KEPT_PREFIX}' END AS lazy_expunge, CASE WHEN ${BY_CONTROL_PLANE} THEN 'vfile:${folders.dovecotConfig}/${OPERATOR_RIGHTS_FILE}' END AS acl, CASE WHEN '%s' = 'doveadm' THEN 'yes' END AS "namespace/kept/list" FROM edge.mailbox('%u')
iterate_query = SELECT username AS user FROM edge.all_mailboxes()
`

// The password is a part of the cache key, so that several passwords of one mailbox are kept beside each other.
export const appPasswordQuery = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
password_query = SELECT username AS user, password, matched FROM edge.app_password('%u', '%{sha256:password}', '%s')
`

export const tokenQuery = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
password_query = SELECT username AS user, password, matched FROM edge.access_token('%u', '%{sha256:password}', '%s')
`

// %r makes the IP address a part of the cache key, because a credential may be limited to some.
export const credentialQuery = ({
  database,
}: EdgeSettings): string => `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
default_pass_scheme = BLF-CRYPT
password_query = SELECT username AS user, password, 'yes' AS matched FROM edge.smtp_credential('%u', '%s', '%r')
`

export const quotaDictionary = ({
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

export const shareDictionary = ({
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
