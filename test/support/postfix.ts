import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { waitFor } from './wait.ts'

const MASTER = '/usr/lib/postfix/sbin/master'

/** The reason why no Postfix is available; undefined when one is. */
export function postfixMissing(): string | undefined {
  if (!existsSync(MASTER)) return 'postfix is not installed'
  return process.getuid?.() === 0 ? undefined : 'Postfix runs as root only'
}

export type Postfix = Awaited<ReturnType<typeof startPostfix>>

/** A private Postfix that relays all mail to one loopback port, which is closed at first. */
export async function startPostfix() {
  const folder = mkdtempSync('/tmp/mailplane-smtp-')
  chmodSync(folder, 0o755)
  const at = (name: string) => join(folder, name)
  for (const name of ['etc', 'spool', 'data', 'spool/pid']) mkdirSync(at(name))
  const own = (mode: string, group: string, names: string[]) =>
    execFileSync('install', ['-d', '-m', mode, '-o', 'postfix', '-g', group, ...names])
  own('700', 'postfix', [at('data'), ...QUEUES.map((name) => at(`spool/${name}`))])
  own('730', 'postdrop', [at('spool/maildrop')])
  own('710', 'postdrop', [at('spool/public')])
  const port = await freePort()
  writeFileSync(at('etc/main.cf'), main(folder, port))
  writeFileSync(at('etc/master.cf'), SERVICES)
  const pid = () => Number(readFileSync(at('spool/pid/master.pid'), 'utf8'))
  const start = () => execFileSync(MASTER, ['-c', at('etc'), '-w'])
  start()

  let sink: Server | undefined
  const received: string[] = []
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, ['-c', at('etc'), ...args], { encoding: 'utf8' }).stdout
  const stop = async () => {
    const master = pid()
    process.kill(master)
    await waitFor(() => !existsSync(`/proc/${master}/fd`) || isZombie(master))
  }
  return {
    configDir: at('etc'),
    received,
    start,
    /** Stops Postfix and keeps its files for `start`. */
    stop,
    log: () => readFileSync(at('mail.log'), 'utf8'),
    queue: () =>
      run('postqueue', '-j')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),

    /** Submits a message and returns its queue id once it is deferred. */
    async defer(sender: string, ...recipients: string[]): Promise<string> {
      const before = new Set(this.queue().map(({ queue_id }) => queue_id))
      const program = spawn('sendmail', ['-C', at('etc'), '-f', sender, ...recipients], {
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      program.stdin.end('Subject: waiting\n\nhello\n')
      return waitFor(
        () =>
          this.queue().find(
            ({ queue_id, queue_name, recipients: [first] }) =>
              !before.has(queue_id) && queue_name === 'deferred' && first.delay_reason,
          )?.queue_id,
        20_000,
      )
    },

    /** Accepts mail from now on; `received` contains its recipients. */
    async answer() {
      sink = smtpSink(received).listen(port, '127.0.0.1')
      await waitFor(() => sink?.listening)
    },

    /** Accepts no mail any more: new mail is deferred again. */
    async refuse() {
      const closing = sink
      sink = undefined
      if (closing) await new Promise((resolve) => closing.close(resolve))
    },

    async remove() {
      sink?.close()
      if (existsSync(`/proc/${pid()}/fd`)) await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const isZombie = (pid: number) => {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}

const QUEUES = 'active bounce corrupt defer deferred flush hold incoming private saved trace'.split(
  ' ',
)

// No automatic retry during a test.
const main = (folder: string, port: number) => `
compatibility_level = 3.6
myhostname = mail.queue.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
queue_directory = ${folder}/spool
data_directory = ${folder}/data
mail_owner = postfix
setgid_group = postdrop
multi_instance_name = mailplane-${folder.slice(-6)}
multi_instance_enable = yes
maillog_file = ${folder}/mail.log
maillog_file_prefixes = ${folder}
enable_long_queue_ids = yes
relayhost = [127.0.0.1]:${port}
smtp_host_lookup = native
smtp_dns_support_level = disabled
smtp_tls_security_level = none
smtp_destination_concurrency_limit = 20
smtp_destination_concurrency_failed_cohort_limit = 100
minimal_backoff_time = 3600s
maximal_backoff_time = 3600s
queue_run_delay = 3600s
`

const SERVICES = `
pickup    unix  n  -  n  60     1  pickup
cleanup   unix  n  -  n  -      0  cleanup
qmgr      unix  n  -  n  3600   1  qmgr
rewrite   unix  -  -  n  -      -  trivial-rewrite
bounce    unix  -  -  n  -      0  bounce
defer     unix  -  -  n  -      0  bounce
trace     unix  -  -  n  -      0  bounce
flush     unix  n  -  n  1000?  0  flush
smtp      unix  -  -  n  -      -  smtp
showq     unix  n  -  n  -      -  showq
error     unix  -  -  n  -      -  error
retry     unix  -  -  n  -      -  error
scache    unix  -  -  n  -      1  scache
postlog   unix-dgram n - n -    1  postlogd
`

/** An SMTP server that accepts everything. */
const smtpSink = (received: string[]): Server =>
  createServer((socket) => {
    let rest = ''
    let inMessage = false
    socket.on('error', () => {})
    socket.write('220 sink\r\n')
    socket.setEncoding('utf8').on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (inMessage && line !== '.') continue
        inMessage = line === 'DATA'
        const to = /^RCPT TO:<(.*)>/.exec(line)?.[1]
        if (to) received.push(to)
        socket.write(inMessage ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
      }
    })
  })
