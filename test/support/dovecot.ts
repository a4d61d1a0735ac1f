import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { orStop } from './or-stop.ts'

export const PROGRAM = '/usr/sbin/dovecot'
export const MAIL_UID = 5000
const PATIENCE_MS = 60_000

/** The reason why no Dovecot is available; undefined when one is. */
export function dovecotMissing(): string | undefined {
  if (!existsSync('/usr/lib/dovecot/imap')) return 'dovecot-imapd is not installed'
  const { stdout } = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' })
  return stdout.startsWith('2.3.') ? undefined : `its configuration is for 2.3, not ${stdout}`
}

export interface Dovecot {
  ports: { imap: number; imaps: number; doveadm: number }
  /** The settings with which the control plane reaches it. */
  env: { DOVEADM_URL: string; DOVEADM_API_KEY: string }
  /** Starts again with the stored mail and rights. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it and removes all its files. */
  remove(): Promise<void>
  log(): string
}

/**
 * A private Dovecot on loopback with all files in its own folder; needs no root. Users are e-mail
 * addresses with a password scheme and its stored value, such as `{ARGON2ID}$argon2id$…`.
 */
export async function startDovecot(
  users: Record<string, string>,
  more: { quotas?: { database: string; bytes: number }; tls?: boolean } = {},
): Promise<Dovecot> {
  // Not the default temporary folder: socket paths are limited to 107 characters.
  const folder = mkdtempSync('/tmp/mailplane-imap-')
  chmodSync(folder, 0o755)
  const at = (name: string) => join(folder, name)
  mkdirSync(at('mail'))
  if (process.getuid?.() === 0) chownSync(at('mail'), MAIL_UID, MAIL_UID)
  for (const name of ['tls-cert.pem', 'tls-key.pem']) {
    copyFileSync(new URL(`./${name}`, import.meta.url), at(name))
  }
  const lines = Object.entries(users).map(([address, stored]) => `${address}:${stored}::::::\n`)
  writeFileSync(at('passwd'), lines.join(''))
  const ports = { imap: await freePort(), imaps: await freePort(), doveadm: await freePort() }
  const { quotas } = more
  writeFileSync(
    at('dovecot.conf'),
    configuration(folder, ports, more.tls ?? true) +
      sharing(folder, ports) +
      (quotas ? counting(folder, quotas.bytes) : ''),
  )
  if (quotas) writeFileSync(at('quota.conf'), quotaDictionary(new URL(quotas.database)))

  const log = () => (existsSync(at('log')) ? readFileSync(at('log'), 'utf8') : '')
  let program: ChildProcess | undefined
  const start = async () => {
    program = spawn(PROGRAM, ['-F', '-c', at('dovecot.conf')], { stdio: 'ignore' })
    await answers(ports.imap, program, log)
  }
  const stop = async () => {
    if (program?.exitCode !== null || program.signalCode !== null) return
    program.kill('SIGTERM')
    await once(program, 'exit')
  }
  const remove = async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
  await orStop(start(), remove)
  return {
    ports,
    env: { DOVEADM_URL: `http://127.0.0.1:${ports.doveadm}`, DOVEADM_API_KEY: DOVEADM_KEY },
    log,
    start,
    stop,
    remove,
  }
}

const DOVEADM_KEY = 'a key of the tests'

/** Access rights, shared folders, and the administration interface. */
const sharing = (folder: string, ports: Dovecot['ports']) => `
auth_cache_size = 1 M
auth_cache_ttl = 1 hour
doveadm_api_key = ${DOVEADM_KEY}
service doveadm {
  inet_listener http {
    address = 127.0.0.1
    port = ${ports.doveadm}
  }
}
mail_plugins = $mail_plugins acl
protocol imap {
  mail_plugins = $mail_plugins acl imap_acl
}
namespace inbox {
  type = private
  separator = /
  inbox = yes
  mailbox Trash {
    auto = create
  }
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
  acl = vfile
  acl_defaults_from_inbox = yes
  acl_shared_dict = file:${folder}/mail/shares
}
`

/** Dovecot writes the usage of each mailbox into the database. */
const counting = (folder: string, bytes: number) => `
mail_plugins = $mail_plugins quota quota_clone
protocol imap {
  mail_plugins = $mail_plugins quota quota_clone acl imap_acl
}
plugin {
  quota = count:User quota
  quota_vsizes = yes
  quota_rule = *:bytes=${bytes}
  quota_grace = 0%%
  quota_clone_dict = proxy::quota
}
dict {
  quota = pgsql:${folder}/quota.conf
}
service dict {
  unix_listener dict {
    mode = 0666
  }
}
`

const quotaDictionary = ({ hostname, port, pathname, username, password }: URL) => `
connect = host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password=${decodeURIComponent(password)}
map {
  pattern = priv/quota/storage
  table = edge.quota_usage
  username_field = username
  value_field = bytes
}
map {
  pattern = priv/quota/messages
  table = edge.quota_usage
  username_field = username
  value_field = messages
}
`

function configuration(folder: string, ports: Dovecot['ports'], tls: boolean): string {
  const isRoot = process.getuid?.() === 0
  const { username, uid, gid } = userInfo()
  // An ordinary user can change neither the user nor the root folder.
  const own = isRoot ? '' : 'chroot ='
  const users = isRoot
    ? ''
    : `default_internal_user = ${username}
default_internal_group = ${primaryGroup(gid)}
default_login_user = ${username}
service anvil {
  chroot =
}`
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
${users}
default_vsz_limit = 256 M
shutdown_clients = yes
ssl = ${tls ? 'yes' : 'no'}
ssl_cert = <${folder}/tls-cert.pem
ssl_key = <${folder}/tls-key.pem
disable_plaintext_auth = no
auth_mechanisms = plain
auth_failure_delay = 0
passdb {
  driver = passwd-file
  args = ${folder}/passwd
}
userdb {
  driver = static
  args = uid=${isRoot ? MAIL_UID : uid} gid=${isRoot ? MAIL_UID : gid} home=${folder}/mail/%u
}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:~/Maildir
service imap-login {
  ${own}
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${tls ? ports.imaps : 0}
    ssl = yes
  }
}
service anvil {
  # Failed logins would be slowed down per address, by seconds.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`
}

export const primaryGroup = (gid: number): string => {
  const groups = readFileSync('/etc/group', 'utf8').split('\n')
  return groups.find((line) => line.split(':')[2] === String(gid))?.split(':')[0] ?? String(gid)
}

/** Waits for the greeting; on failure the error contains the log of the server. */
async function answers(port: number, program: ChildProcess, log: () => string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (program.exitCode === null && Date.now() < deadline) {
    if (await greets(port)) return
  }
  throw new Error(`Dovecot does not answer: ${log()}`)
}

const greets = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      setTimeout(resolve, answer ? 0 : 50, answer)
    }
    socket.once('data', (data) => done(data.toString().startsWith('* OK')))
    socket.once('error', () => done(false)).once('end', () => done(false))
  })
