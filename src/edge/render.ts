import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeSettings } from './settings.ts'
import { edgeSecrets, hostSettings } from './settings-of.ts'
import { renderedFiles } from './write.ts'

/** Writes the configuration of real hosts into a folder; answers the names of the files. */
export function renderForHosts(given: Parameters<typeof hostSettings>[0], out: string): string[] {
  const edge = hostSettings(given)
  const files = Object.entries(renderedFiles(edge)).flatMap(([server, list]) =>
    list.map((file) => ({ ...file, name: join(server, file.name) })),
  )
  const readme = {
    name: 'README.md',
    text: readmeOf(edge, files, edgeSecrets(given.vault).masterPassword),
    readers: 'none' as const,
  }
  for (const { name, text, readers } of [...files, readme]) {
    const path = join(out, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, text)
    chmodSync(path, readers === 'all' ? 0o644 : 0o600)
  }
  return [...files, readme].map(({ name }) => name)
}

interface Placed {
  name: string
  readers: string
}

function readmeOf(edge: EdgeSettings, files: Placed[], masterPassword: string): string {
  const rows = files.map(({ name, readers }) => {
    const owner = readers === 'all' || readers === 'none' ? 'root:root' : `root:${readers}`
    const mode = readers === 'all' ? '0644' : readers === 'none' ? '0600' : '0640'
    return `| ${name} | /etc/${name} | ${owner} | ${mode} |`
  })
  return `# Configuration of a mail host

Written by \`mailplane edge render\` for Debian 12 (Postfix 3.7, Dovecot 2.3, Rspamd 3). It holds secrets: keep it as you keep a password.

1. Install the servers:

       apt-get install --no-install-recommends postfix postfix-pgsql dovecot-imapd dovecot-pop3d dovecot-lmtpd dovecot-managesieved dovecot-sieve dovecot-pgsql rspamd

2. Make the user of the mailboxes and the folders:

       groupadd -g 5000 vmail && useradd -u 5000 -g vmail -M -s /usr/sbin/nologin vmail
       install -d -o vmail -g vmail -m 0700 ${edge.folders.mail}
       install -d -m 0711 ${edge.folders.logs}${
         edge.redis ? '' : `\n       install -d -o _rspamd -g _rspamd -m 0700 ${edge.folders.dkim}`
       }

3. Put the certificate to ${edge.tls.certificate} and its key to ${edge.tls.key} (root alone).

4. Copy the files:

   | file | to | owner | mode |
   | --- | --- | --- | --- |
${rows.map((row) => `   ${row}`).join('\n')}

   Dovecot reads its own dovecot.conf only; what the package put into /etc/dovecot/conf.d is not included.

5. Start them: \`systemctl restart rspamd dovecot postfix\`.

6. Set for the control plane, which must reach ${edge.privateAddress}:

       IMAP_HOST=${edge.hostname}
       IMAP_MASTER_USER=${edge.master.user}
       IMAP_MASTER_PASSWORD=${masterPassword}
       SIEVE_HOST=${edge.hostname}
       DOVEADM_URL=${edge.privateAddress.startsWith('127.') ? 'http' : 'https'}://${edge.privateAddress}:${edge.ports.doveadm}
       DOVEADM_API_KEY=${edge.doveadmKey}
       POSTFIX_CONFIG_DIR=${edge.folders.postfixConfig}
       MAIL_LOG_FILE=${edge.folders.logs}/mail.log
       MAIL_REINJECT_HOST=${edge.privateAddress}
       MAIL_REINJECT_PORT=${edge.ports.reinject}
       MAIL_FILTERED_PORT=${edge.ports.filtered}
       RSPAMD_URL=http://${edge.privateAddress}:${edge.ports.scanner}${
         edge.contentFilter
           ? `
       CONTENT_FILTER_HOST=${edge.contentFilter.host}
       CONTENT_FILTER_PORT=${edge.contentFilter.port}

   Mail is accepted while the daemon content_filter runs there, and deferred while it does not. EDGE_CONTENT_FILTER_PORT=0 renders a host without it.`
           : ''
       }

The servers reach PostgreSQL at ${edge.database.host}:${edge.database.port}, database ${edge.database.name}, as the role ${edge.database.user}; let pg_hba.conf accept it. ${
    edge.redis
      ? `Signing keys come from the Redis at ${edge.redis.host}:${edge.redis.port}.`
      : `Signing keys are files in ${edge.folders.dkim}: the control plane must run on this host as root, or share that folder; with REDIS_URL they go through a Redis.`
  }

Listeners: 25 for other mail hosts, 587 and 465 for logins, 143, 993, 110, 995 and 4190 for mailboxes; on ${edge.privateAddress}, for nobody outside: ${edge.ports.lmtp}, ${edge.ports.sasl}, ${edge.ports.doveadm}, ${edge.ports.quota}, ${edge.ports.internal}, ${edge.ports.reinject}, ${edge.ports.filtered}, ${edge.ports.milter}, ${edge.ports.scanner}.
`
}
