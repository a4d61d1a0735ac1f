import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Dovecot } from '../../test/support/dovecot.ts'
import { IMAP_PASSWORD } from '../../test/support/migration.ts'

export interface Ends {
  source: Dovecot
  target: Dovecot
  from: string
  to: string
}

/** Copies with mbsync, configured as its manual proposes for two servers. Returns seconds. */
export async function mbsync(folder: string, { source, target, from, to }: Ends): Promise<number> {
  const home = join(folder, `mbsync-${to}`)
  mkdirSync(join(home, 'state'), { recursive: true })
  const account = (name: string, { ports }: Dovecot, user: string) => `
IMAPAccount ${name}
Host 127.0.0.1
Port ${ports.imap}
User ${user}
Pass "${IMAP_PASSWORD}"
SSLType None
AuthMechs LOGIN

IMAPStore ${name}
Account ${name}
`
  const config = join(home, 'mbsyncrc')
  writeFileSync(
    config,
    `${account('far', source, from)}${account('near', target, to)}
Channel all
Far :far:
Near :near:
Patterns *
Create Near
Sync Pull
CopyArrivalDate yes
SyncState ${home}/state/
`,
  )
  return timed('mbsync', ['-c', config, '-a', '-q'], home)
}

async function timed(program: string, args: string[], home: string): Promise<number> {
  const begun = performance.now()
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += text
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said.slice(-2000)}`)
  return (performance.now() - begun) / 1000
}
