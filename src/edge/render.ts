import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clamdAddress } from './clamav.ts'
import { hostPort } from './database-role.ts'
import { SPAM_SCRIPT } from './dovecot.ts'
import { type EdgeSettings, type HostPart, isBackend } from './settings.ts'
import { edgeSecrets, hostSettings } from './settings-of.ts'
import { renderedFiles } from './write.ts'

/** Writes the configuration of real hosts into a folder; returns the names of the files. */
export function renderForHosts(given: Parameters<typeof hostSettings>[0], out: string): string[] {
  const edge = hostSettings(given)
  const files = Object.entries(renderedFiles(edge)).flatMap(([server, list]) =>
    list.map((file) => ({ ...file, name: join(server, file.name) })),
  )
  const { masterPassword } = edgeSecrets(given.vault)
  const readme = {
    name: 'README.md',
    text: edge.host ? readmeOfPart(edge, edge.host, files) : readmeOf(edge, files, masterPassword),
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

interface InstalledFile {
  name: string
  readers: string
}

const rowsOf = (files: InstalledFile[]) =>
  files.map(({ name, readers }) => {
    const owner = readers === 'all' || readers === 'none' ? 'root:root' : `root:${readers}`
    const mode = readers === 'all' ? '0644' : readers === 'none' ? '0600' : '0640'
    return `| ${name} | /etc/${name} | ${owner} | ${mode} |`
  })

/** The packages of Debian 12 by server. */
const PACKAGES = {
  postfix: 'postfix postfix-pgsql',
  dovecot:
    'dovecot-imapd dovecot-pop3d dovecot-lmtpd dovecot-managesieved dovecot-sieve dovecot-pgsql',
  rspamd: 'rspamd',
  clamav: 'clamav-daemon clamav-freshclam',
}
const SERVERS = Object.keys(PACKAGES) as (keyof typeof PACKAGES)[]

const mailUser = ({ folders }: EdgeSettings) => [
  'groupadd -g 5000 vmail && useradd -u 5000 -g vmail -M -s /usr/sbin/nologin vmail',
  `install -d -o vmail -g vmail -m 0700 ${folders.mail}`,
]

const folderSteps = ({ folders, redis, host }: EdgeSettings) => [
  `install -d -m 0711 ${folders.logs}`,
  ...(redis || isBackend({ host })
    ? []
    : [`install -d -o _rspamd -g _rspamd -m 0700 ${folders.dkim}`]),
]

const sniSteps = ({
  folders: { sni },
}: EdgeSettings) => `Certificates by name are kept in ${sni}; create the empty table of Postfix:

       install -d -m 0700 ${sni}
       touch ${sni}/names && chmod 0600 ${sni}/names
       postmap -F hash:${sni}/names`

/** The README of one of several hosts: the steps that set it up. */
function readmeOfPart(edge: EdgeSettings, host: HostPart, files: InstalledFile[]): string {
  const servers = SERVERS.filter((server) =>
    files.some(({ name }) => name.startsWith(`${server}/`)),
  )
  const address = `${host.name}.internal.example`
  const body = {
    name: host.name,
    roles: host.roles,
    address,
    doveadm_url: `https://${address}:${edge.ports.doveadm}`,
  }
  return `# Configuration of the mail host ${host.name}: ${host.roles.join(', ')}

Written by \`mailplane edge render\` for Debian 12. It contains secrets: protect it like a password.

1. Install the servers:

       apt-get install --no-install-recommends ${servers.map((server) => PACKAGES[server]).join(' ')}

2. Create ${isBackend(edge) ? 'the user of the mailboxes and ' : ''}the folders:

       ${(isBackend(edge) ? [...mailUser(edge), ...folderSteps(edge)] : folderSteps(edge)).join('\n       ')}

3. Store the certificate in ${edge.tls.certificate} and its key in ${edge.tls.key}, readable by root only. It must have the name by which the other hosts reach this one, from an authority that they trust: see docs/growing.md, Certificates between hosts.${
    servers.includes('postfix') ? ` ${sniSteps(edge)}` : ''
  }

4. Copy the files:

   | file | to | owner | mode |
   | --- | --- | --- | --- |
${rowsOf(files)
  .map((row) => `   ${row}`)
  .join('\n')}
${isBackend(edge) ? `\n   Compile the script that files spam: \`sievec /etc/dovecot/${SPAM_SCRIPT}\`.\n` : ''}
5. Start the servers: \`systemctl restart ${servers.join(' ')}\`.

6. Add the host with \`POST /api/v1/platform/mail-hosts\`; \`address\` and \`doveadm_url\` have the name in its certificate, which must lead to ${edge.privateAddress}:

       ${JSON.stringify(body)}

The servers reach PostgreSQL at ${hostPort(edge.database)}, database ${edge.database.name}, as the role ${edge.database.user}.
`
}

function readmeOf(edge: EdgeSettings, files: InstalledFile[], masterPassword: string): string {
  const rows = rowsOf(files)
  return `# Configuration of a mail host

Written by \`mailplane edge render\` for Debian 12 (Postfix 3.7, Dovecot 2.3, Rspamd 3). It contains secrets: protect it like a password.

1. Install the servers:

       apt-get install --no-install-recommends ${SERVERS.filter(
         (one) => one !== 'clamav' || edge.antivirus,
       )
         .map((one) => PACKAGES[one])
         .join(' ')}

2. Create the user of the mailboxes and the folders:

       ${[...mailUser(edge), ...folderSteps(edge)].join('\n       ')}

3. Store the certificate in ${edge.tls.certificate} and its key in ${edge.tls.key}, readable by root only. ${sniSteps(edge)}

4. Copy the files:

   | file | to | owner | mode |
   | --- | --- | --- | --- |
${rows.map((row) => `   ${row}`).join('\n')}

   Then compile the script that files spam: \`sievec /etc/dovecot/${SPAM_SCRIPT}\`. Dovecot reads only dovecot.conf; the files of the package in /etc/dovecot/conf.d are not included.

5. Start the servers: \`systemctl restart rspamd dovecot postfix\`.${
    edge.antivirus
      ? ' Start `clamav-freshclam`; when it has downloaded the signatures, start `clamav-daemon`.'
      : ''
  }

6. Set these variables for the control plane, which must be able to reach ${edge.privateAddress}:

       IMAP_HOST=${edge.hostname}
       IMAP_MASTER_USER=${edge.master.user}
       IMAP_MASTER_PASSWORD=${masterPassword}
       SIEVE_HOST=${edge.hostname}
       DOVEADM_URL=${edge.privateAddress.startsWith('127.') ? 'http' : 'https'}://${edge.privateAddress}:${edge.ports.doveadm}
       DOVEADM_API_KEY=${edge.doveadmKey}
       POSTFIX_CONFIG_DIR=${edge.folders.postfixConfig}
       MAIL_LOG_FILE=${edge.folders.logs}/mail.log
       DOVECOT_LOG_FILE=${edge.folders.logs}/dovecot.log
       RSPAMD_LOG_FILE=${edge.folders.logs}/rspamd.log
       MAIL_REINJECT_HOST=${edge.privateAddress}
       MAIL_REINJECT_PORT=${edge.ports.reinject}
       MAIL_FILTERED_PORT=${edge.ports.filtered}
       MAIL_SERVICE_PORT=${edge.ports.internal}
       RSPAMD_URL=http://${edge.privateAddress}:${edge.ports.scanner}${
         edge.antivirus ? `\n       MONITOR_CLAMD=${clamdAddress(edge)}` : ''
       }${
         edge.contentFilter
           ? `
       CONTENT_FILTER_HOST=${edge.contentFilter.host}
       CONTENT_FILTER_PORT=${edge.contentFilter.port}

   Mail is accepted while the daemon content_filter runs there, and deferred while it does not. Set EDGE_CONTENT_FILTER_PORT=0 to render a host without it.`
           : ''
       }

The servers reach PostgreSQL at ${hostPort(edge.database)}, database ${edge.database.name}, as the role ${edge.database.user}; pg_hba.conf must accept it. ${
    edge.redis
      ? `Signing keys come from the Redis at ${edge.redis.host}:${edge.redis.port}.`
      : `Signing keys are files in ${edge.folders.dkim}: the control plane must run on this host as root, or share that folder; set REDIS_URL to distribute them through a Redis instead.`
  }

The control plane writes the certificates of domains to ${edge.folders.sni} when it runs on this host or shares that folder.

Listeners: 25 for other mail hosts, 587 and 465 for logins, 143, 993, 110, 995 and 4190 for mailboxes; on ${edge.privateAddress}, not to be reachable from outside: ${edge.ports.lmtp}, ${edge.ports.sasl}, ${edge.ports.doveadm}, ${edge.ports.quota}, ${edge.ports.internal}, ${edge.ports.automatic}, ${edge.ports.reinject}, ${edge.ports.filtered}, ${edge.ports.milter}, ${edge.ports.scanner}.
`
}
