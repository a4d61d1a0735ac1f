import { readFileSync, statSync } from 'node:fs'
import { plainAddress } from './cidr.ts'
import { type GeoDatabase, openGeoDatabase } from './mmdb.ts'

const LOOK_MS = 60_000

export type GeoFile = ReturnType<typeof geoFile>

/** A file in the MaxMind format; a new one is noticed within a minute. */
export function geoFile(path: string | undefined, failed: (error: unknown) => void) {
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
      failed(error)
    }
  }

  return {
    get isKnown(): boolean {
      look()
      return database !== undefined
    },
    find(address: string): unknown {
      look()
      return database?.find(plainAddress(address))
    },
  }
}
