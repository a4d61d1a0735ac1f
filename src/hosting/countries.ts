import { geoFile } from '../lib/geo-file.ts'
import type { Log } from '../log.ts'

export interface Countries {
  /** False without a readable GeoIP database. */
  readonly isKnown: boolean
  /** ISO 3166-1 alpha-2, in upper case. */
  of(address: string): string | undefined
}

/** Looks up the country of an IP address in a file in the MaxMind format. */
export function countries(path: string | undefined, log: Log): Countries {
  const file = geoFile(path, (error) =>
    log.error({ err: error, alert: true }, 'GEOIP_DATABASE cannot be read'),
  )
  // Log an unreadable file at the start, not at the first lookup.
  void file.isKnown

  return {
    get isKnown() {
      return file.isKnown
    },
    of(address) {
      const found = file.find(address) as
        | { country?: { iso_code?: unknown }; registered_country?: { iso_code?: unknown } }
        | undefined
      const code = found?.country?.iso_code ?? found?.registered_country?.iso_code
      return typeof code === 'string' ? code.toUpperCase() : undefined
    },
  }
}
