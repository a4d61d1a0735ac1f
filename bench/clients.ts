import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type CalendarServer, calendarCosts } from './clients/calendars.ts'
import { cpuMs } from './clients/cpu.ts'
import { cyrusMissing, startCyrus } from './clients/cyrus.ts'
import { type Host, withHost } from './clients/host.ts'
import { type JmapProgram, jmapProgram } from './clients/jmap.ts'
import { fillInbox } from './clients/letters.ts'
import { timed } from './clients/program.ts'
import { radicaleMissing, startRadicale } from './clients/radicale.ts'
import { median, table } from './report.ts'
import { type Started, stopAll } from './servers.ts'

const INDEX_MS = 10 * 60_000
const OPEN_GOAL_MS = 1000
const RATE_GOAL = 1000

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    beside: { type: 'string', default: '2000' },
    calls: { type: 'string', default: '100' },
    events: { type: 'string', default: '200' },
    root: { type: 'string' },
  },
})
const [messages, beside, calls, events] = (['messages', 'beside', 'calls', 'events'] as const).map(
  (name) => Number(values[name]),
) as [number, number, number, number]
const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}
const verdict = (text: string, isMet: boolean) => {
  say(`${isMet ? 'met   ' : 'MISSED'}  ${text}`)
  if (!isMet) process.exitCode = 1
}

// Cyrus gives up root, so every folder above its own must be open to all.
const folder = mkdtempSync('/tmp/mailplane-clients-')
chmodSync(folder, 0o755)
const started: Started[] = []
try {
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`)
  await withHost(async (host) => {
    await benchIndex(host)
    await benchJmap(host)
    await benchCalendars(host)
  })
} finally {
  await stopAll(started)
  rmSync(folder, { recursive: true, force: true })
}

/** A mailbox that no program has opened over JMAP. */
async function benchIndex(host: Host): Promise<void> {
  say(`\nJMAP: the first look at ${messages} messages`)
  const login = await host.mailbox('large', messages)
  // The first login hashes the password, which is not measured here.
  const other = await host.mailbox('other', 1)
  ;(await jmapProgram(other)).end()
  const begun = performance.now()
  const program = await jmapProgram(login)
  const shown = await program.page()
  const openMs = performance.now() - begun
  if (shown.length === 0) throw new Error('the first page is empty')
  let total = 0
  while (total < messages) {
    if (performance.now() - begun > INDEX_MS) throw new Error(`only ${total} messages are indexed`)
    await sleep(250)
    total = await program.total()
  }
  const rate = messages / ((performance.now() - begun) / 1000)
  verdict(`opened in ${openMs.toFixed(0)} ms (under ${OPEN_GOAL_MS})`, openMs < OPEN_GOAL_MS)
  verdict(`indexed ${rate.toFixed(0)} messages/s (at least ${RATE_GOAL})`, rate >= RATE_GOAL)
  const [page, changes] = await jmapTimes(program)
  say(`then: query + get of 50 ${page.toFixed(1)} ms, Email/changes ${changes.toFixed(1)} ms`)
  program.end()
}

async function jmapTimes(program: JmapProgram): Promise<[number, number]> {
  const page = median(await timed(calls, program.page))
  const state = await program.state()
  return [page, median(await timed(calls, () => program.changes(state)))]
}

async function benchJmap(host: Host): Promise<void> {
  say(`\nJMAP beside Cyrus, ${beside} messages, p50 of ${calls} calls`)
  const missing = cyrusMissing(values.root)
  if (missing) return say(`skipped: ${missing}`)
  const login = await host.mailbox('small', beside)
  const cyrus = await startCyrus(values.root as string, join(folder, 'cyrus'), started)
  const theirLogin = { user: cyrus.user, password: cyrus.password }
  await fillInbox({ port: cyrus.ports.imap, security: 'none', ...theirLogin }, 0, beside)
  const base = `http://127.0.0.1:${cyrus.ports.http}`
  const ours = await jmapProgram(login)
  const theirs = await jmapProgram({ base, ...theirLogin }, '/jmap/')
  for (const [name, one] of [
    ['Mailplane', ours],
    ['Cyrus', theirs],
  ] as const) {
    for (const end = Date.now() + INDEX_MS; (await one.total()) < beside; await sleep(250)) {
      if (Date.now() > end) throw new Error(`${name} does not show all messages`)
    }
  }
  const [ourTimes, theirTimes] = [await jmapTimes(ours), await jmapTimes(theirs)]
  const cells = (times: [number, number]) => times.map((time) => `${time.toFixed(1)} ms`)
  say(
    table([
      ['', 'query+get', 'changes'],
      ['Cyrus', ...cells(theirTimes)],
      ['Mailplane', ...cells(ourTimes)],
    ]),
  )
  for (const [at, name] of (['query + get of 50', 'Email/changes'] as const).entries()) {
    const ratio = (ourTimes[at] as number) / (theirTimes[at] as number)
    verdict(`${name}: ${ratio.toFixed(2)} of the time of Cyrus (under 1)`, ratio < 1)
  }
  ours.end()
  theirs.end()
}

async function benchCalendars(host: Host): Promise<void> {
  say(`\nCalDAV: CPU time of an operation, ${events} events; ours with that of PostgreSQL`)
  const login = await host.mailbox('calendar', 0)
  const [account] = await host.database.sql<{ id: string }[]>`
    select id from email_accounts where email = ${login.user}`
  const pid = host.server.child.pid as number
  const ours: CalendarServer = {
    name: 'Mailplane',
    login,
    calendar: `/dav/calendars/${account?.id}/bench/`,
    cpuMs: () => cpuMs(pid, host.dataDir),
  }
  const missing = radicaleMissing(values.root)
  const radicale = missing
    ? undefined
    : await startRadicale(values.root as string, join(folder, 'radicale'), started)
  const ourCosts = await calendarCosts(ours, events)
  const theirs = radicale && {
    name: 'Radicale',
    login: { base: radicale.base, user: 'reader', password: 'any' },
    calendar: '/reader/bench/',
    cpuMs: () => cpuMs(radicale.pid),
  }
  const theirCosts = theirs && (await calendarCosts(theirs, events))
  const rows = [...ourCosts].map(([name, cost]) => {
    const their = theirCosts?.get(name)
    return [
      name,
      `${cost.toFixed(2)} ms`,
      ...(their === undefined ? [] : [`${their.toFixed(2)} ms`, (cost / their).toFixed(2)]),
    ]
  })
  say(table([['', 'Mailplane', ...(theirCosts ? ['Radicale', 'ratio'] : [])], ...rows]))
  if (!theirCosts) return say(`Radicale was skipped: ${missing}`)
  for (const [name, cost] of ourCosts) {
    const ratio = cost / (theirCosts.get(name) as number)
    verdict(`${name}: ${ratio.toFixed(2)} of the CPU time of Radicale (at most 0.5)`, ratio <= 0.5)
  }
}
