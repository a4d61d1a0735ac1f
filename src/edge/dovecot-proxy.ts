import { administration, head, listener, logins, withoutPenalty } from './dovecot-common.ts'
import {
  appPasswordQuery,
  credentialQuery,
  mailboxQueries,
  masterQuery,
  tokenQuery,
} from './dovecot-queries.ts'
import type { EdgeSettings, RenderedFile } from './settings.ts'

/**
 * The configuration of a Dovecot without mail: it verifies logins, for itself and for Postfix, and hands
 * them to the backend of the mailbox.
 */
export const dovecotProxyFiles = (edge: EdgeSettings): RenderedFile[] => [
  { name: 'dovecot.conf', text: main(edge), readers: 'none' },
  { name: 'sql-mailbox.conf.ext', text: mailboxQueries(edge), readers: 'dovecot' },
  { name: 'sql-app-password.conf.ext', text: appPasswordQuery(edge), readers: 'dovecot' },
  { name: 'sql-token.conf.ext', text: tokenQuery(edge), readers: 'dovecot' },
  { name: 'sql-smtp.conf.ext', text: credentialQuery(edge), readers: 'dovecot' },
  { name: 'sql-master.conf.ext', text: masterQuery(edge), readers: 'dovecot' },
  {
    name: 'master-users',
    text: `${edge.master.user}:${edge.master.passwordHash}\n`,
    readers: 'dovecot',
  },
]

const main = (edge: EdgeSettings): string => {
  const isProxy = edge.host?.roles.includes('proxy') ?? false
  return `# Written by mailplane; changes here are lost.
${head(edge, isProxy ? 'imap pop3 sieve' : 'none')}
${logins(edge)}
hostname = ${edge.hostname}
${isProxy ? listeners(edge) : ''}service auth {
${listener('sasl', edge.ports.sasl, `address = ${edge.privateAddress}`)}
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
${administration(edge)}${edge.isPrivate ? withoutPenalty : ''}`
}

// In its usual folder a login process cannot read the roots by which it verifies backends.
const UNCONFINED = '  chroot ='

const listeners = (edge: EdgeSettings): string => `service imap-login {
${UNCONFINED}
${listener('imap', edge.ports.imap)}
${listener('imaps', edge.ports.imaps, 'ssl = yes')}
}
service pop3-login {
${UNCONFINED}
${listener('pop3', edge.ports.pop3)}
${listener('pop3s', edge.ports.pop3s, 'ssl = yes')}
}
service managesieve-login {
${UNCONFINED}
${listener('sieve', edge.ports.sieve)}
}
`
