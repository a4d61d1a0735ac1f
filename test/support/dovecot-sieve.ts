import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { dovecotMissing, MAIL_UID, PROGRAM, primaryGroup } from './dovecot.ts'
import { orStop } from './or-stop.ts'
import { deliverOverLmtp, type SmtpSink, startSmtpSink } from './smtp.ts'
import { waitFor } from './wait.ts'

export const MASTER = { user: 'control-plane', password: 'only "the" master\\knows' }

/** The reason why no Dovecot with Sieve is available; undefined when one is. */
export function sieveMissing(): string | undefined {
  const missing = dovecotMissing()
  if (missing) return missing
  if (!existsSync('/usr/lib/dovecot/managesieve')) return 'dovecot-managesieved is not installed'
  if (!existsSync('/usr/lib/dovecot/lmtp')) return 'dovecot-lmtpd is not installed'
  return existsSync('/usr/bin/sievec') ? undefined : 'dovecot-sieve is not installed'
}

export type SieveServer = Awaited<ReturnType<typeof startSieveServer>>

export interface StoredMail {
  folder: string
  /** Maildir flags: F flagged, S seen. */
  flags: string
  text: string
}

/**
 * A private Dovecot that delivers over LMTP, runs Sieve, and accepts scripts over ManageSieve from
 * the master login. Every e-mail address has a mailbox. Outgoing mail arrives in the sink.
 */
export async function startSieveServer() {
  const folder = mkdtempSync('/tmp/mailplane-sieve-')
  chmodSync(folder, 0o755)
  const at = (...names: string[]) => join(folder, ...names)
  mkdirSync(at('mail'))
  if (process.getuid?.() === 0) chownSync(at('mail'), MAIL_UID, MAIL_UID)
  for (const name of ['tls-cert.pem', 'tls-key.pem']) {
    copyFileSync(new URL(`./${name}`, import.meta.url), at(name))
  }
  const secret = Buffer.from(MASTER.password).toString('hex')
  writeFileSync(at('masters'), `${MASTER.user}:{PLAIN.HEX}${secret}::::::\n`)
  const sink = await startSmtpSink()
  const ports = { sieve: await freePort(), lmtp: await freePort() }
  writeFileSync(at('dovecot.conf'), configuration(folder, ports, sink))
  const log = () => (existsSync(at('log')) ? readFileSync(at('log'), 'utf8') : '')
  let program: ChildProcess | undefined
  const start = async () => {
    const started = spawn(PROGRAM, ['-F', '-c', at('dovecot.conf')], { stdio: 'ignore' })
    program = started
    await waitFor(() => {
      if (started.exitCode !== null) throw new Error(`Dovecot does not start: ${log()}`)
      return greets(ports.sieve)
    })
  }
  const away = async () => {
    if (program?.exitCode !== null || program.signalCode !== null) return
    program.kill('SIGTERM')
    await once(program, 'exit')
  }
  const stop = async () => {
    await away()
    await sink.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  await orStop(start(), stop)

  return {
    ports,
    sink,
    log,
    env: {
      IMAP_MASTER_USER: MASTER.user,
      IMAP_MASTER_PASSWORD: MASTER.password,
      SIEVE_HOST: '127.0.0.1',
      SIEVE_PORT: String(ports.sieve),
    },

    /** Delivers a message and returns the whole content of the mailbox. */
    async deliver(to: string, message: string, from = 'sender@elsewhere.test') {
      await deliverOverLmtp(ports.lmtp, { from, to }, message)
      return this.mail(to)
    },

    mail: (address: string): StoredMail[] => maildir(at('mail', address, 'Maildir')),

    /** The scripts of the mailbox as stored on the server. */
    script: (address: string, name: string): string | undefined => {
      const file = at('mail', address, 'sieve', `${name}.sieve`)
      return existsSync(file) ? readFileSync(file, 'utf8') : undefined
    },
    scripts: (address: string): string[] =>
      existsSync(at('mail', address, 'sieve'))
        ? readdirSync(at('mail', address, 'sieve'))
            .filter((name) => name.endsWith('.sieve'))
            .map((name) => name.slice(0, -6))
            .sort()
        : [],
    /** Delivery errors as logged by Pigeonhole. */
    problems: (address: string): string => {
      const file = at('mail', address, '.dovecot.sieve.log')
      return existsSync(file) ? readFileSync(file, 'utf8') : ''
    },

    /** Stops the server until `back`; all files stay. */
    away,
    back: start,
    stop,
  }
}

function maildir(root: string): StoredMail[] {
  if (!existsSync(root)) return []
  const folders = ['', ...readdirSync(root).filter((name) => name.startsWith('.'))]
  return folders.flatMap((folder) =>
    ['new', 'cur'].flatMap((state) => {
      const path = join(root, folder, state)
      if (!existsSync(path)) return []
      // By time: Dovecot pads the microseconds in a name with no zeros.
      return readdirSync(path)
        .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
        .map((name) => ({
          folder: folder === '' ? 'INBOX' : folder.slice(1),
          flags: name.split(':2,')[1] ?? '',
          text: readFileSync(join(path, name), 'utf8'),
        }))
    }),
  )
}

const greets = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (data) => done(data.toString().startsWith('"IMPLEMENTATION"')))
    socket.once('error', () => done(false)).once('end', () => done(false))
  })

function configuration(
  folder: string,
  ports: { sieve: number; lmtp: number },
  sink: SmtpSink,
): string {
  const isRoot = process.getuid?.() === 0
  const { username, uid, gid } = userInfo()
  const own = isRoot ? '' : 'chroot ='
  const users = isRoot
    ? ''
    : `default_internal_user = ${username}
default_internal_group = ${primaryGroup(gid)}
default_login_user = ${username}`
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = lmtp sieve
listen = 127.0.0.1
${users}
default_vsz_limit = 256 M
shutdown_clients = yes
ssl = yes
ssl_cert = <${folder}/tls-cert.pem
ssl_key = <${folder}/tls-key.pem
auth_mechanisms = plain
auth_failure_delay = 0
auth_master_user_separator = *
passdb {
  driver = passwd-file
  master = yes
  args = ${folder}/masters
}
passdb {
  driver = static
  args = nopassword=n nologin=y
}
userdb {
  driver = static
  args = uid=${isRoot ? MAIL_UID : uid} gid=${isRoot ? MAIL_UID : gid} home=${folder}/mail/%u allow_all_users=yes
}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:~/Maildir
postmaster_address = postmaster@localhost
hostname = mail.localhost
submission_host = 127.0.0.1:${sink.port}
namespace inbox {
  inbox = yes
  separator = /
  mailbox Work {
    auto = create
  }
  mailbox Bosses {
    auto = create
  }
}
plugin {
  sieve = file:~/sieve;active=~/.dovecot.sieve
  sieve_max_script_size = 1M
  sieve_max_actions = 32
  sieve_max_redirects = 20
  sieve_vacation_min_period = 1d
  sieve_redirect_envelope_from = recipient
}
protocol lmtp {
  mail_plugins = $mail_plugins sieve
}
service managesieve-login {
  ${own}
  inet_listener sieve {
    port = ${ports.sieve}
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${ports.lmtp}
  }
}
service anvil {
  ${own}
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service auth {
  unix_listener auth-userdb {
    mode = 0666
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`
}
