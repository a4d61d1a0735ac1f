import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Core } from '../../../core.ts'
import { type FileTail, fileTail } from '../../../lib/file-tail.ts'
import {
  LOGGED_SERVERS,
  type LoggedServer,
  readServerLog,
  serverLogFile,
} from '../../../mail/server-logs.ts'

const MAX_BYTES = 4 * 1024 * 1024

export interface LogFile {
  /** Absent for a service of Mailplane. */
  server?: LoggedServer
  /** Throws when the log cannot be read. */
  read(): Promise<FileTail>
}

type Needs = Pick<Core, 'config' | 'helper' | 'mailServers'>

/** Maps service names to logs. A requested name is only looked up here, never used as a path. */
export async function findLogs(needs: Needs): Promise<Map<string, LogFile>> {
  const folder = join(needs.config.DATA_DIR, 'logs')
  const names = await readdir(folder).catch(() => [])
  const logs = names.filter((name) => /^[a-z_]+\.log$/.test(name)).sort()
  const own = logs.map((name): [string, LogFile] => [
    name.slice(0, -'.log'.length),
    { read: () => fileTail(join(folder, name), MAX_BYTES) },
  ])
  return new Map([...own, ...serverLogs(needs)])
}

function serverLogs({ helper, mailServers }: Needs): [string, LogFile][] {
  const settings = mailServers.current()
  return LOGGED_SERVERS.flatMap((server): [string, LogFile][] => {
    const path = serverLogFile(settings, server)
    if (path === undefined) return []
    // The files belong to the mail servers; a process without the rights asks the helper.
    const read = async () => {
      try {
        return await readServerLog(path)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        if (helper === undefined || !['EACCES', 'EPERM'].includes(code)) throw error
        return helper.readServerLog(server)
      }
    }
    return [[server, { server, read }]]
  })
}

export interface Tail {
  /** Oldest first. */
  lines: string[]
  /** True if the file has more lines than were read. */
  isCut: boolean
}

/** Returns the last lines of a log, or undefined when it cannot be read. */
export async function tailOf(log: LogFile): Promise<Tail | undefined> {
  const tail = await log.read().catch(() => undefined)
  if (!tail) return undefined
  const lines = tail.bytes.toString('utf8').split('\n')
  // The first line is incomplete when the read starts inside the file.
  if (tail.isCut) lines.shift()
  return { lines: lines.filter((line) => line !== ''), isCut: tail.isCut }
}
