import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import type { Started } from '../servers.ts'
import { listening } from './listening.ts'

const PASSWORD = 'a-long-passphrase-1'
const USER = 'reader'
/** Cyrus refuses to run as root; these are the ids of `nobody`. */
const NOBODY = 65_534

/** The reason why Cyrus cannot be measured; undefined when it can. */
export function cyrusMissing(root: string | undefined): string | undefined {
  if (root === undefined) return 'give the folder of its unpacked packages with --root'
  if (process.getuid?.() !== 0) return 'it needs root'
  return existsSync(join(root, 'usr/lib/cyrus/bin/httpd'))
    ? undefined
    : `${root} has no cyrus-imapd and cyrus-caldav`
}

/** Cyrus out of unpacked packages, with mail and settings in a folder of its own. */
export async function startCyrus(root: string, folder: string, started: Started[]) {
  const ports = { imap: await freePort(), http: await freePort() }
  const libraries = ['usr/lib', 'lib'].map((name) => join(root, name, `${machine()}-linux-gnu`))
  const env = { PATH: process.env.PATH, LD_LIBRARY_PATH: libraries.join(':'), CYRUS_USER: 'nobody' }
  const at = (name: string) => join(folder, name)
  for (const name of ['', 'config', 'config/proc', 'config/socket', 'config/db', 'spool']) {
    mkdirSync(at(name), { recursive: true })
    chmodSync(at(name), 0o755)
    chownSync(at(name), NOBODY, NOBODY)
  }
  writeFileSync(at('imapd.conf'), settings(folder))
  writeFileSync(
    at('cyrus.conf'),
    services(join(root, 'usr/lib/cyrus/bin'), at('imapd.conf'), ports),
  )
  execFileSync(
    join(root, 'usr/sbin/saslpasswd2'),
    ['-p', '-c', '-f', at('sasldb'), '-u', 'bench', USER],
    { env, input: PASSWORD },
  )
  chownSync(at('sasldb'), NOBODY, NOBODY)
  const child = spawn(
    join(root, 'usr/lib/cyrus/bin/master'),
    ['-C', at('imapd.conf'), '-M', at('cyrus.conf'), '-p', at('master.pid'), '-D'],
    { env, stdio: 'ignore' },
  )
  started.push({ child, url: '', port: ports.http })
  await listening('Cyrus', ports.http)
  await listening('Cyrus', ports.imap)
  return { ports, user: USER, password: PASSWORD }
}

const machine = () => (process.arch === 'arm64' ? 'aarch64' : 'x86_64')

const settings = (folder: string) => `configdirectory: ${folder}/config
partition-default: ${folder}/spool
defaultpartition: default
cyrus_user: nobody
cyrus_group: nogroup
servername: bench
defaultdomain: bench
admins: nobody
unixhierarchysep: yes
altnamespace: yes
autocreate_quota: 0
autocreate_post: yes
conversations: yes
httpmodules: jmap
httpallowcompress: no
jmap_preview_length: 256
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: ${folder}/sasldb
sasl_mech_list: PLAIN LOGIN
allowplaintext: yes
tls_sessions_db: skiplist
popminpoll: 0
timeout: 30
`

const services = (
  programs: string,
  config: string,
  ports: { imap: number; http: number },
) => `START {
  recover cmd="${programs}/ctl_cyrusdb -C ${config} -r"
}
SERVICES {
  imap cmd="${programs}/imapd -C ${config}" listen="127.0.0.1:${ports.imap}" prefork=1 maxchild=10
  http cmd="${programs}/httpd -C ${config}" listen="127.0.0.1:${ports.http}" prefork=1 maxchild=10
}
EVENTS {
}
`
