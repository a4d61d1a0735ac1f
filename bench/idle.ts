import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { aim, table } from './report.ts'
import { type Started, start, stopAll } from './servers.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const SETTLE_MS = 60_000
const LIMIT_MB = 160

const residentMb = ({ child }: Started): number => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000
}

/** The options of Node that `npm start` uses. */
const { scripts } = JSON.parse(readFileSync(file('../package.json'), 'utf8'))
const options: string[] = scripts.start.match(/ --\S+/g).map((option: string) => option.trim())

const folder = mkdtempSync(join(tmpdir(), 'mailplane-idle-'))
const started: Started[] = []
try {
  const bare = await start(process.execPath, [file('./baselines/node-http.ts')], {}, started)
  const mailplane = await start(
    process.execPath,
    [...options, file('../dist/main.js'), 'serve'],
    { DATA_DIR: folder, PORT: '0', SVC_WORKERS: '1' },
    started,
  )
  await sleep(SETTLE_MS)
  const resident = residentMb(mailplane)
  const lines = [
    table([
      ['idle process', 'resident'],
      ['bare node:http', `${residentMb(bare).toFixed(0)} MB`],
      ['Mailplane, all services', `${resident.toFixed(0)} MB`],
    ]),
    aim(`resident memory under ${LIMIT_MB} MB`, resident < LIMIT_MB),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
} finally {
  await stopAll(started)
  rmSync(folder, { recursive: true, force: true })
}
