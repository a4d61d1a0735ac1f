import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Installation, withInstallation } from '../edge/installation.ts'
import { fillMaildir, type Imap, openInbox } from './letters.ts'
import type { Login } from './program.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PASSWORD = 'a-long-passphrase-1'

export type Host = Installation & {
  /** Makes a mailbox with so many letters and returns its login. */
  mailbox(name: string, letters: number): Promise<Login>
}

/** Runs the work on a host with every service and its own mail servers. */
export const withHost = <Result>(work: (host: Host) => Promise<Result>): Promise<Result> =>
  // The programs measured send many requests, all from loopback.
  withInstallation({ AUTH_POLICY_EXEMPT: '127.0.0.0/8' }, async (installation) => {
    const edge = (verb: string, ...more: string[]) => {
      const env = { PATH: process.env.PATH, DATA_DIR: installation.dataDir }
      const ran = spawnSync(process.execPath, [MAIN, 'edge', verb, ...more], { env })
      if (ran.status !== 0) throw new Error(`edge ${verb}: ${ran.stderr}`)
      return String(ran.stdout)
    }
    const { imaps } = JSON.parse(edge('up', '--json'))
    const { call, dataDir, database, domain, server } = installation
    try {
      return await work({
        ...installation,
        async mailbox(name, letters) {
          const email = `${name}@${domain.domain}`
          await call('POST', '/mailboxes/email-accounts', { email, password: PASSWORD })
          const login = { base: server.url, user: email, password: PASSWORD }
          const imap: Imap = { ...login, port: imaps.port, security: 'tls' }
          await openInbox(imap)
          const [row] = await database.sql<{ folder: string }[]>`
            select folder from edge.mailbox(${email})`
          fillMaildir(join(dataDir, 'edge/mail', row?.folder ?? '', 'Maildir'), letters)
          await openInbox(imap)
          return login
        },
      })
    } finally {
      edge('down', '--delete')
    }
  })
