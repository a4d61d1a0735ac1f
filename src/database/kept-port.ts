import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, isFree } from '../lib/free-port.ts'

const PATIENCE_MS = 3000

/**
 * The port of the last start, because mail servers and scripts are configured with it. Another program
 * that only looks whether the port is free leaves it within the patience.
 */
export async function keptPort(
  dataDir: string,
  report: (message: string) => void,
): Promise<number> {
  const file = join(dataDir, 'postgres-port')
  const kept = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  if (kept > 0 && (await becomesFree(kept))) return kept
  const port = await freePort()
  writeFileSync(file, `${port}\n`, { mode: 0o600 })
  if (kept > 0) {
    report(
      `another program uses port ${kept}, so the embedded PostgreSQL listens on ${port}; if this host has a mail edge, run mailplane edge up now, because its servers still ask port ${kept}`,
    )
  }
  return port
}

async function becomesFree(port: number): Promise<boolean> {
  const end = Date.now() + PATIENCE_MS
  while (!(await isFree(port))) {
    if (Date.now() > end) return false
    await sleep(100)
  }
  return true
}
