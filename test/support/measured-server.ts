import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, INTERNAL_TOKEN } from './app.ts'
import { startServer, temporaryFolder } from './process.ts'

export type MeasuredServer = Awaited<ReturnType<typeof startMeasuredServer>>

const ATTEMPTS = 12
const SETTLE_MS = 150

export interface Input {
  name: string
  run(): Promise<unknown>
}

/** A turn of the event loop that took long. */
interface LongTurn {
  at: number
  ms: number
}

/**
 * The server as a process of its own on the database of an app, with a probe in its event loop. The
 * work of the test is not measured.
 */
export async function startMeasuredServer(app: App, env: Record<string, string> = {}) {
  const dataDir = temporaryFolder()
  const file = join(dataDir, 'loop-probe')
  const probe = new URL('./loop-probe.mjs', import.meta.url).href
  const server = await startServer({
    dataDir,
    env: {
      NODE_OPTIONS: `--import=${probe}`,
      LOOP_PROBE_FILE: file,
      DATABASE_URL: app.database.url,
      SVC_SECRET_KEY: app.core.config.SVC_SECRET_KEY ?? '',
      SVC_INTERNAL_TOKEN: INTERNAL_TOKEN,
      SVC_COOKIE_SECURE: 'false',
      SVC_PUBLIC_URL: 'https://panel.measured.test',
      SVC_LOG_LEVEL: 'warn',
      POLICY_RATE_PORT: '0',
      POLICY_ACCESS_PORT: '0',
      AUTH_POLICY_PORT: '0',
      ...env,
    },
  })
  const turns = (): LongTurn[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as LongTurn)
      : []

  return {
    ...server,
    get base() {
      return server.base
    },
    /**
     * Runs inputs one after the other and returns those during which the loop stood still. An input
     * with a long turn is repeated: on a virtual machine, time that the host takes away counts as CPU
     * time too, and code that runs for the first time is compiled. An expensive input takes long
     * every time.
     */
    async standstills(inputs: readonly Input[], boundMs: number): Promise<string[]> {
      const suspects = new Set<Input>()
      const spans: { index: number; from: number }[] = []
      for (const [index, { run }] of inputs.entries()) {
        spans.push({ index, from: Date.now() })
        await run()
      }
      await sleep(SETTLE_MS)
      const first = spans[0]?.from ?? 0
      for (const { at, ms } of turns()) {
        if (at < first || ms <= boundMs) continue
        const { index = 0 } = spans.findLast(({ from }) => from <= at) ?? {}
        // Work may go on after its response, while the next input runs.
        for (const one of inputs.slice(Math.max(0, index - 1), index + 1)) suspects.add(one)
      }
      const slow: string[] = []
      for (const input of suspects) {
        const least = await leastOf(input)
        if (least > boundMs) slow.push(`${Math.round(least)} ms: ${input.name}`)
      }
      return slow
    },
  }

  /** The longest turn of an input, the shortest of several attempts. */
  async function leastOf({ run }: Input): Promise<number> {
    let least = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < ATTEMPTS && least > 0; attempt++) {
      const from = Date.now()
      await run()
      await sleep(SETTLE_MS)
      const longest = turns().filter(({ at }) => at >= from)
      least = Math.min(least, Math.max(0, ...longest.map(({ ms }) => ms)))
    }
    return least
  }
}
