import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compare, type Target } from './compare.ts'
import { aim, report, table } from './report.ts'
import { type Started, start } from './servers.ts'

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

const results = await compare(startTargets)
const aims = [SMALLEST, LARGEST].map((surface) => {
  const [bare, own] = results.filter(({ name }) => name.endsWith(surface))
  const part = (own?.perSecond ?? 0) / (bare?.perSecond ?? Number.NaN)
  return aim(
    `script of ${surface} at least 0.8 of bare node:http (${part.toFixed(2)})`,
    part >= 0.8,
  )
})
process.stdout.write(`${report(results, aims)}\n${weights()}\n`)
