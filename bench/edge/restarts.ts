import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMailLoad, WITHOUT_LIMITS } from '../../test/support/mail-load.ts'
import { cleanUp, run, startServer, temporaryFolder } from '../../test/support/process.ts'
import { bootstrap } from '../bootstrap.ts'
import { median } from '../report.ts'
import { say } from './installation.ts'

const RECOVERY_AIM_SECONDS = 5
/** The retries of Postfix for mail that it has deferred in the meantime. */
const DELIVERY_MS = 120_000

/**
 * Stops and kills the server in turn under SMTP, IMAP and LMTP load. Correct results have no
 * permanent failure, and every accepted message exactly once.
 */
export async function benchRestarts({ restarts = 50 } = {}): Promise<boolean> {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const env = { ...WITHOUT_LIMITS, SVC_MAIL_HOSTNAME: 'mx.edge.test' }
  const edge = (...args: string[]) => run(['edge', ...args], { DATA_DIR: dataDir, ...env })
  const up = await edge('up', '--json')
  if (up.code !== 0) throw new Error(up.stderr)
  const listeners = JSON.parse(up.stdout) as Record<string, { port: number }>
  const port = (name: string) => listeners[name]?.port ?? 0
  try {
    let server = await startServer({ dataDir, env, hasEdge: true })
    const { mailbox, password } = await bootstrap(server.base, dataDir)
    const load = startMailLoad({
      ports: {
        smtp: port('smtp'),
        submission: port('submission'),
        imaps: port('imaps'),
        lmtp: port('lmtp'),
      },
      user: mailbox,
      password,
    })
    await load.succeeds()
    const seconds: number[] = []
    for (let restart = 0; restart < restarts; restart++) {
      if (restart % 2 === 0) await server.stop()
      else await server.killNode()
      forgetLogins(dataDir)
      server = await startServer({ dataDir, env, hasEdge: true })
      const ready = Date.now()
      await load.succeeds()
      await sleep(RECOVERY_AIM_SECONDS * 1000)
      seconds.push(Math.max(0, load.lastFailedStart - ready) / 1000)
    }
    await load.stop()
    spawnSync('postqueue', ['-c', join(dataDir, 'edge', 'etc', 'postfix'), '-f'])
    const end = Date.now() + DELIVERY_MS
    let missing = await load.missing()
    for (; missing.lost.length > 0 && Date.now() < end; missing = await load.missing()) {
      await sleep(1000)
    }
    await server.stop()
    const { accepted, logins, temporary } = load.counts
    say(`\n${restarts} restarts under load: ${accepted} messages, ${logins} logins`)
    say(`temporary failures ${temporary}, permanent ${load.permanent.length} (aim: 0)`)
    say(`lost ${missing.lost.length}, doubled ${missing.doubled.length} (aim: 0)`)
    say(
      `last failing attempt after the start: p50 ${median(seconds).toFixed(1)} s, most ${Math.max(...seconds).toFixed(1)} s (aim: ${RECOVERY_AIM_SECONDS} s)`,
    )
    for (const { kind, reply } of load.permanent.slice(0, 10)) say(`  ${kind}: ${reply}`)
    return [load.permanent, missing.lost, missing.doubled].every(({ length }) => length === 0)
  } finally {
    await edge('down', '--delete')
    await cleanUp()
  }
}

/** Otherwise Dovecot would answer from its cache while the database is away. */
const forgetLogins = (dataDir: string) =>
  spawnSync('doveadm', [
    ...['-c', join(dataDir, 'edge', 'etc', 'dovecot', 'dovecot.conf')],
    ...['auth', 'cache', 'flush'],
  ])
