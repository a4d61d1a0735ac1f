import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { plainImapServer } from '../test/support/migration.ts'
import { mbsync } from './migration/contestants.ts'
import { differences, fill } from './migration/mailboxes.ts'
import { peakMb, startMailplane } from './migration/mailplane.ts'
import { median, table } from './report.ts'
import { type Started, stopAll } from './servers.ts'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '5000' },
    megabytes: { type: 'string', default: '72' },
    rounds: { type: 'string', default: '3' },
  },
})
const messages = Number(values.messages)
const rounds = Number(values.rounds)
const say = (text: string) => process.stdout.write(`${text}\n`)

const FROM = 'source@bench.example'
const targets = (name: string) =>
  Array.from({ length: rounds }, (_, round) => `${name}${round}@bench.example`)
const [ours, theirs] = [targets('mailplane'), targets('mbsync')]
const KILLED = 'killed@bench.example'

const folder = mkdtempSync(join(tmpdir(), 'mailplane-migration-'))
const started: Started[] = []
const source = await plainImapServer(FROM)
const target = await plainImapServer(...ours, ...theirs, KILLED)
const ends = (to: string) => ({ source, target, from: FROM, to })
const problems: string[] = []
const check = async (name: string, to: string) => {
  for (const one of await differences(source, FROM, target, to)) problems.push(`${name}, ${one}`)
}

try {
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`)
  say(
    `${messages} messages, ${values.megabytes} MB, 3 folders, two Dovecots on loopback, without TLS`,
  )
  await fill(source, FROM, messages, Number(values.megabytes) * 1024 * 1024)
  const mailplane = await startMailplane(join(folder, 'data'), target, started)
  for (const to of [...ours, KILLED]) await mailplane.mailbox(to)
  let daemon = await mailplane.daemon()

  const full = { mailplane: [] as number[], mbsync: [] as number[] }
  const nothing = { mailplane: [] as number[], mbsync: [] as number[] }
  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now()
    await work()
    return (performance.now() - begun) / 1000
  }
  for (let round = 0; round < rounds; round++) {
    const [own = '', near = ''] = [ours[round], theirs[round]]
    let job = ''
    full.mailplane.push(
      await timed(async () => {
        job = await mailplane.begin(ends(own))
        await mailplane.ended(job)
      }),
    )
    full.mbsync.push(await mbsync(folder, ends(near)))
    nothing.mailplane.push(await timed(async () => mailplane.ended(await mailplane.delta(job))))
    nothing.mbsync.push(await mbsync(folder, ends(near)))
    if (round === 0) await check('mailplane', own)
  }
  const peak = peakMb(daemon)

  // Kill the daemon in the middle of a job; another daemon continues it.
  const job = await mailplane.begin(ends(KILLED))
  while ((await mailplane.jobOf(job)).migrated_messages < messages / 4) await sleep(5)
  daemon.child.kill('SIGKILL')
  const { migrated_messages: survived } = await mailplane.jobOf(job)
  daemon = await mailplane.daemon()
  await mailplane.ended(job)
  await check('after kill -9', KILLED)

  const rate = (seconds: number[]) => Math.round(messages / median(seconds))
  const ratio = median(full.mbsync) / median(full.mailplane)
  const idle = median(nothing.mailplane) / median(nothing.mbsync)
  say('')
  say(
    table([
      ['', 'messages/s', 'no-op s'],
      ['mbsync', String(rate(full.mbsync)), median(nothing.mbsync).toFixed(2)],
      ['Mailplane', String(rate(full.mailplane)), median(nothing.mailplane).toFixed(2)],
    ]),
  )
  say('')
  const verdicts: [string, boolean][] = [
    [`${ratio.toFixed(2)} times mbsync (at least 1.5)`, ratio >= 1.5],
    [`no-op delta ${idle.toFixed(2)} times mbsync's (at most 2)`, idle <= 2],
    [`${Math.round(peak)} MB resident at most (under 200)`, peak < 200],
    [
      `killed after ${survived} of ${messages}, then: ${problems.join('; ') || 'no message lost or duplicated'}`,
      problems.length === 0,
    ],
  ]
  for (const [text, isMet] of verdicts) say(`${isMet ? 'met   ' : 'MISSED'}  ${text}`)
  if (verdicts.some(([, isMet]) => !isMet)) process.exitCode = 1
} finally {
  await stopAll(started)
  await Promise.all([source.remove(), target.remove()])
  rmSync(folder, { recursive: true, force: true })
}
