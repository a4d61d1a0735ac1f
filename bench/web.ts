import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, type Target } from './compare.ts'
import { aim, report, table } from './report.ts'
import { type Started, start, stopAll } from './servers.ts'
import { CHROMIUM } from './web/browser.ts'
import { startInstallation } from './web/installation.ts'
import { type Interaction, measureInteractions } from './web/interactions.ts'
import { lighthouseScores, type Scores } from './web/lighthouse.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const BUILT = file('../dist/web')
const SMALLEST = 'mailbox'
const LARGEST = 'console'

/** Compressed scripts from the running server and from bare `node:http`. */
async function startTargets(dataDir: string, started: Started[]): Promise<Target[]> {
  const environment = { DATA_DIR: dataDir, PORT: '0' }
  const mailplane = await start(
    process.execPath,
    [file('../dist/main.js'), 'serve'],
    environment,
    started,
  )
  const targets: Target[] = []
  for (const surface of [SMALLEST, LARGEST]) {
    const name = scriptOf(surface)
    const bare = await start(
      process.execPath,
      [file('./baselines/node-http-file.ts'), `${BUILT}/${name}.br`],
      {},
      started,
    )
    const get = ({ port }: Started) => ({
      port,
      method: 'GET',
      path: `/assets/${name}`,
      headers: { 'accept-encoding': 'br' },
      status: 200,
    })
    targets.push(
      { name: `bare node:http, script of ${surface}`, request: get(bare) },
      { name: `Mailplane, script of ${surface}`, request: get(mailplane) },
    )
  }
  return targets
}

function scriptOf(surface: string): string {
  const { scripts } = JSON.parse(readFileSync(`${BUILT}/manifest.json`, 'utf8'))
  return scripts.en[surface]
}

function weights(): string {
  const names = readdirSync(BUILT).filter((name) => /-[A-Z0-9]{8}\.(js|css)$/.test(name))
  const kB = (name: string) => (statSync(`${BUILT}/${name}`).size / 1000).toFixed(1)
  return table([
    ['', 'kB plain', 'kB gzip', 'kB brotli'],
    ...names.toSorted().map((name) => [name, kB(name), kB(`${name}.gz`), kB(`${name}.br`)]),
  ])
}

async function files(): Promise<void> {
  const results = await compare(startTargets)
  const aims = [SMALLEST, LARGEST].map((surface) => {
    const [bare, own] = results.filter(({ name }) => name.endsWith(surface))
    const part = (own?.perSecond ?? 0) / (bare?.perSecond ?? Number.NaN)
    return aim(
      `script of ${surface} at least 0.8 of bare node:http (${part.toFixed(2)})`,
      part >= 0.8,
    )
  })
  say(report(results, aims))
}

/** Interactions, and the scores of Lighthouse when its folder is given. */
async function browser(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-web-'))
  const started: Started[] = []
  const stop = async () => {
    await stopAll(started)
    rmSync(folder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(1)))
  }
  try {
    const installation = await startInstallation(folder, started)
    say(`processor slowed 4 times, load of the machine ${loadavg()[0]?.toFixed(1)}\n`)
    interactions(await measureInteractions(installation))
    if (values.lighthouse) scores(await lighthouseScores(values.lighthouse, installation))
  } finally {
    await stop()
  }
}

function interactions(measured: Interaction[]): void {
  const rows = measured.map(({ name, bestMs, medianMs, mostMs }) => [
    name,
    ...[bestMs, medianMs, mostMs].map((ms) => ms.toFixed(0)),
  ])
  const slowest = Math.max(...measured.map(({ medianMs }) => medianMs))
  say(table([['', 'best ms', 'median ms', 'most ms'], ...rows]))
  say(`${aim(`interactions under 100 ms (${slowest.toFixed(0)})`, slowest < 100)}\n`)
}

function scores(measured: Scores[]): void {
  const head = ['Lighthouse, phone', 'speed', 'access', 'practices']
  say(table([head, ...measured.map(({ page, scores }) => [page, ...scores.map(String)])]))
  const lowest = Math.min(...measured.flatMap((one) => one.scores))
  say(aim(`every score at least 95 (${lowest})`, lowest >= 95))
  for (const { page, lost } of measured) if (lost.length > 0) say(`  ${page}: ${lost.join(', ')}`)
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    lighthouse: { type: 'string', default: '' },
  },
})
const say = (text: string) => process.stdout.write(`${text}\n`)
if (values.only !== 'browser') {
  await files()
  say(`${weights()}\n`)
}
if (values.only !== 'files') {
  if (existsSync(CHROMIUM)) await browser()
  else say(`${CHROMIUM} is missing: no interactions measured`)
}
