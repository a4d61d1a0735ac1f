import { readFileSync, statSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { Reader, type Response } from 'mmdb-lib'
import { isIpAddress, normalizeIp } from './ip.ts'
import { MINUTE_MS } from './time.ts'

const CHECK_MS = MINUTE_MS

/** Reads a database file in the MaxMind format. A replaced file is loaded within a minute. */
export function geoFile(path: string | undefined, failed: (error: unknown) => void) {
  let reader: Reader<Response> | undefined
  let loadedVersion = ''
  let checkedAt = 0

  const reload = () => {
    if (path === undefined || Date.now() - checkedAt < CHECK_MS) return
    checkedAt = Date.now()
    try {
      const { mtimeMs, size, ino } = statSync(path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version === loadedVersion) return
      reader = new Reader(readFileSync(path))
      loadedVersion = version
    } catch (error) {
      // The previous content stays in use.
      failed(error)
    }
  }

  return {
    get isKnown(): boolean {
      reload()
      return reader !== undefined
    },
    find(text: string): unknown {
      reload()
      if (reader === undefined || !isIpAddress(text)) return undefined
      const ip = normalizeIp(text)
      // mmdb-lib would read IPv6 bits as a path through the IPv4 tree.
      if (isIPv6(ip) && reader.metadata.ipVersion === 4) return undefined
      return reader.get(ip) ?? undefined
    },
  }
}
