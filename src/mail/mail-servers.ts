import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { type MailServerSettings, resolveMailServers } from '../config/mail-servers.ts'

const POLL_MS = 250

/** The addresses of the mail servers. A private edge may start, or move, while this process runs. */
export interface MailServers {
  current(): MailServerSettings
  /**
   * Calls the listener each time a private edge starts, even with unchanged settings. Returns a
   * function that removes the listener.
   */
  onChange(listener: () => void): () => void
}

/** The part that a client of a mail server needs. */
export type CurrentMailServers = Pick<MailServers, 'current'>

/** Follows the settings that a private edge writes into the data folder. */
export function watchMailServers(
  config: Pick<Config, 'DATA_DIR' | 'mailServers'>,
): MailServers & { close(): void } {
  const file = join(config.DATA_DIR, 'edge', 'edge.env')
  const listeners = new Set<() => void>()
  const read = () => resolveMailServers(config.mailServers, readEdgeFile(file))
  let version = versionOf(file)
  let settings = read()

  const timer = setInterval(() => {
    const newVersion = versionOf(file)
    if (newVersion === version) return
    version = newVersion
    settings = read()
    for (const listener of listeners) listener()
  }, POLL_MS)
  timer.unref()

  return {
    current: () => settings,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => clearInterval(timer),
  }
}

function versionOf(file: string): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch {
    return undefined
  }
}

/** Returns no settings for a missing file and for one that belongs to another user. */
function readEdgeFile(file: string): Record<string, string> {
  try {
    return readSettings(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}

/** Reads lines of the form NAME=value. */
export const readSettings = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
