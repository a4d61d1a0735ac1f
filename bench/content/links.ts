import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import { urlProtection } from '../../src/daemons/url-protection.ts'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { signingKey } from '../../src/features/url-protection/links/link-keys.ts'
import rewrite from '../../src/features/url-protection/links/rewrite.task.ts'
import { type LinkKey, safePath } from '../../src/features/url-protection/links/safe-links.ts'
import { metrics } from '../../src/http/metrics.ts'
import { httpServer } from '../../src/http/server.ts'
import { serviceLog } from '../../src/log.ts'
import type { Row } from '../parts.ts'

const ORGANIZATION = 'BENCH'
const HOSTS = 1_000_000
const MESSAGES = 300
const ROUNDS = 5
const CLICKS = 2000
const BASE = 'https://mail.bench.test/safe/'

/** CPU for the links of a message, and clicks with a million listed hosts beside a bare redirect. */
export default async function links(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-links-'))
  prepareDataDir(folder)
  const feed = join(folder, 'feed.txt')
  await writeFeed(feed)
  const server = await startEmbedded(folder, () => {})
  const database = openDatabase(server.target, { pool: 1, name: 'bench' })
  await migrate(database.sql)
  await database.sql`insert into organizations (id, name) values (${ORGANIZATION}, 'bench')`
  await database.close()
  const config = readConfig({
    DATA_DIR: folder,
    URL_FEED_FILES: feed,
    SVC_TRUSTED_PROXIES: '127.0.0.1',
  })
  const { log, close } = serviceLog('bench', config)
  const core = await startCore({ config, log, target: server.target, listeners: [] })
  const running = await urlProtection.start(core)
  const app = await httpServer(core, [
    { name: 'url_protection', log, metrics: metrics('url_protection'), features: running.features },
  ])
  const bare = createServer((_request, response) => {
    response.writeHead(302, { location: 'https://shop.test/', 'content-length': '0' }).end()
  })
  try {
    await app.listen({ host: '127.0.0.1', port: 0 })
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))
    const key = await signingKey(core)
    return [...rewriting(key), ...(await clicking(app.server, bare, key))]
  } finally {
    bare.close()
    await app.close()
    await running.stop()
    await core.close()
    close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writeFeed(path: string): Promise<void> {
  const file = createWriteStream(path)
  for (let n = 0; n < HOSTS; n++) {
    if (!file.write(`host-${n}.listed-${n % 5000}.test\n`)) {
      await new Promise<void>((resolve) => file.once('drain', () => resolve()))
    }
  }
  file.end()
  await finished(file)
}

function rewriting(key: LinkKey): Row[] {
  const filler = '<p>Some text of a newsletter, as it stands between two links of it.</p>\r\n'
  const body = Array.from(
    { length: 100 },
    (_, n) =>
      `${filler}<a href="https://shop-${n}.test/offer/${n}?id=${n}&amp;from=mail">Offer</a>\r\n`,
  ).join('')
  const raw = Buffer.from(
    `From: a@far.test\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${body}`,
  )
  const input = { content: raw, base: BASE, organizationId: ORGANIZATION, key, allowed: [] }
  for (let n = 0; n < MESSAGES; n++) rewrite(input)
  const begun = process.cpuUsage()
  for (let n = 0; n < MESSAGES; n++) rewrite(input)
  const { user, system } = process.cpuUsage(begun)
  const ms = (user + system) / 1000 / MESSAGES
  return [{ what: 'CPU for 100 links', value: `${ms.toFixed(2)} ms`, aim: 'below 5 ms' }]
}

/** Rounds of both servers in turn; the median of the rounds counts. */
async function clicking(app: Server, bare: Server, key: LinkKey): Promise<Row[]> {
  const path = (address: string) =>
    `/safe/${safePath(key, { organizationId: ORGANIZATION, address, isForm: false })}`
  const ours: number[][] = []
  const theirs: number[][] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await times(app, (n) => path(`https://shop.test/${n}?a=b`), 302)
    const other = await times(bare, (n) => `/${n}`, 302)
    // The first round warms up.
    if (round > 0) {
      ours.push(one)
      theirs.push(other)
    }
  }
  const blocked = await times(app, (n) => path(`https://host-${n}.listed-${n % 5000}.test/`), 403)
  const ratio = median(ours, 0.5) / median(theirs, 0.5)
  const shown = (ms: number) => `${ms.toFixed(2)} ms`
  return [
    {
      what: `click, ${HOSTS} hosts listed, p99`,
      value: shown(median(ours, 0.99)),
      aim: 'below 5 ms',
    },
    { what: 'bare node:http redirect, p99', value: shown(median(theirs, 0.99)) },
    { what: 'click against bare redirect, p50', value: `${ratio.toFixed(2)} times` },
    { what: 'click on a listed host, p99', value: shown(quantile(blocked, 0.99)) },
  ]
}

/** The times of clicks, one after the other on one connection, each from another address. */
async function times(server: Server, pathOf: (n: number) => string, status: number) {
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const taken: number[] = []
  for (let n = 0; n < CLICKS; n++) {
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'x-forwarded-for': `198.51.${n >> 8}.${n & 255}`,
    }
    const begun = performance.now()
    const code = await new Promise<number | undefined>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: pathOf(n), headers, agent }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode))
      }).on('error', reject)
    })
    taken.push(performance.now() - begun)
    if (code !== status) throw new Error(`answered ${code} in place of ${status}`)
  }
  agent.destroy()
  return taken
}

const quantile = (values: readonly number[], at: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * at)] ?? 0

const median = (rounds: readonly number[][], at: number): number =>
  quantile(
    rounds.map((round) => quantile(round, at)),
    0.5,
  )
