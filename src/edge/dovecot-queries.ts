import { KEPT_PREFIX } from '../mail/kept-folders.ts'
import { type DatabaseAddress, tlsParameters } from './database-role.ts'
import { type EdgeSettings, isBackend, isFront, MAIL_UID } from './settings.ts'

/** The rights of the control plane on all folders. */
export const OPERATOR_RIGHTS_FILE = 'operator-rights.acl'

// Dovecot repeats a query that lost its connection as often as there are hosts, and then gives up: Postfix
// knows no temporary failure of a login and answers that the password is wrong. With one connection
// for each host a query outlives all connections that a shutdown ends, and waits for the next one.
const CONNECTIONS = 3

const connection = (database: DatabaseAddress) => {
  const { host, port, name, user, password } = database
  const tls = tlsParameters(database).map((one) => ` ${one}`)
  const hosts = Array(CONNECTIONS)
    .fill(`host=${quoted(host)}`)
    .join(' ')
  return `connect = ${hosts} maxconns=1 port=${port} dbname=${quoted(name)} user=${user} password=${password}${tls.join('')}`
}

/** Quotes a value of a libpq connection string. */
const quoted = (text: string) =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replace(/[\\']/g, '\\$&')}'`

/** With the master login of the control plane, not with that of a proxy. */
const byControlPlane = ({ host, master }: EdgeSettings) =>
  host
    ? `('%s' = 'doveadm' OR '%{master_user}' = '${master.user}')`
    : "('%s' = 'doveadm' OR '%{master_user}' <> '')"

/** The fields that send a login from a proxy to the backend of its mailbox. */
const routed = (user: string, password: string) =>
  `proxy, host, port, ssl, starttls, CASE WHEN proxy = 'y' THEN '${user}' END AS master, CASE WHEN proxy = 'y' THEN '${password}' END AS pass, CASE WHEN proxy = 'y' THEN ${PROXY_SECONDS} END AS proxy_timeout`

/** A backend that does not answer is a temporary failure after this time. */
const PROXY_SECONDS = 10

/** Added by the password query of a front to the fields and to the source of the login. */
function route({ host }: EdgeSettings, condition = 'true') {
  if (!host) return { fields: '', join: '' }
  return {
    fields: `, ${routed(host.proxy.user, host.proxy.password)}`,
    join: ` l LEFT JOIN LATERAL edge.route(l.username, '%s') r ON ${condition}`,
  }
}

// Dovecot escapes the values that it inserts. Every query contains %u, because the cache key must
// contain the login for a flush to find it.
//
// lazy_expunge is set for a mailbox under a legal hold: an expunged message moves to the kept folders. The
// control plane, over doveadm and with the master login, can read and delete them. Only doveadm lists them,
// so that work with the master login, such as the search index, does not come across them.
export function mailboxQueries(edge: EdgeSettings): string {
  const { fields, join } = route(edge, 'l.nologin IS NULL')
  return `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(edge.database)}
default_pass_scheme = ARGON2ID
${
  isBackend(edge)
    ? ''
    : `password_query = SELECT username AS user, password, matched, nologin, reason${fields} FROM edge.mailbox_login('%u', '%{passdb:forward_key}' = '${edge.loginKey}', '%s')${join}
`
}${
  isFront(edge)
    ? ''
    : `user_query = ${userQuery(edge)}
iterate_query = SELECT username AS user FROM edge.all_mailboxes()
`
}`
}

function userQuery(edge: EdgeSettings): string {
  const { folders, host } = edge
  // A copy on another host than its own neither keeps nor counts mail.
  const owned = host ? ' AND owned' : ''
  const counted = host
    ? `, CASE WHEN owned THEN 'proxy::quota' END AS quota_clone_dict, tempfail`
    : ''
  const source = host ? `edge.mailbox_on('${host.name}', '%u', '%s')` : "edge.mailbox('%u')"
  return `SELECT username AS user, '${folders.mail}/' || folder AS home, ${MAIL_UID} AS uid, ${MAIL_UID} AS gid, quota_rule, CASE WHEN edge.keeps_expunged(username)${owned} THEN '${KEPT_PREFIX}' END AS lazy_expunge, CASE WHEN ${byControlPlane(edge)} THEN 'vfile:${folders.dovecotConfig}/${OPERATOR_RIGHTS_FILE}' END AS acl, CASE WHEN '%s' = 'doveadm' THEN 'yes' END AS "namespace/kept/list"${counted} FROM ${source}`
}

/** The backend of a mailbox for a master login of the control plane. */
export const masterQuery = ({ database, host, master }: EdgeSettings): string =>
  `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(database)}
password_query = SELECT '%u' AS user, NULL AS password, 'y' AS nopassword, ${routed(master.user, host?.masterPassword ?? '')} FROM edge.route('%u', '%s') WHERE '%{master_user}' = '${master.user}'
`

// The password is a part of the cache key, so that several passwords of one mailbox are kept beside each other.
export const appPasswordQuery = (edge: EdgeSettings): string =>
  `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(edge.database)}
password_query = SELECT username AS user, password, matched${route(edge).fields} FROM edge.app_password('%u', '%{sha256:password}', '%s')${route(edge).join}
`

export const tokenQuery = (edge: EdgeSettings): string =>
  `# Written by mailplane; changes here are lost.
driver = pgsql
${connection(edge.database)}
password_query = SELECT username AS user, password, matched${route(edge).fields} FROM edge.access_token('%u', '%{sha256:password}', '%s')${route(edge).join}
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
