import { readFileSync, statSync } from 'node:fs'
import { plainAddress } from '../../../lib/cidr.ts'
import { type GeoDatabase, openGeoDatabase } from '../../../lib/mmdb.ts'
import type { Log } from '../../../log.ts'

const LOOK_MS = 60_000

export interface Countries {
  /** False when there is nothing to look addresses up in. */
  readonly isKnown: boolean
  /** ISO 3166-1 alpha-2, in upper case. */
  of(address: string): string | undefined
}

/** Countries of addresses from a file in the MaxMind format; a new file is noticed within a minute. */
export function countries(path: string | undefined, log: Log): Countries {
  let database: GeoDatabase | undefined
  let readAs = ''
  let lookedAt = 0

  const look = () => {
    if (path === undefined || Date.now() - lookedAt < LOOK_MS) return
    lookedAt = Date.now()
    try {
      const { mtimeMs, size, ino } = statSync(path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version === readAs) return
      database = openGeoDatabase(readFileSync(path))
      readAs = version
    } catch (error) {
      // What was read before is better than nothing.
      log.error({ err: error, alert: true }, 'GEOIP_DATABASE cannot be read')
    }
  }
  look()

  return {
    get isKnown() {
      look()
      return database !== undefined
    },
    of(address) {
      look()
      const found = database?.find(plainAddress(address)) as
        | { country?: { iso_code?: unknown }; registered_country?: { iso_code?: unknown } }
        | undefined
      const code = found?.country?.iso_code ?? found?.registered_country?.iso_code
      return typeof code === 'string' ? code.toUpperCase() : undefined
    },
  }
}
