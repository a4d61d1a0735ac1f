import { geoFile } from '../../../lib/geo-file.ts'
import type { Log } from '../../../log.ts'

export interface Countries {
  /** False when there is nothing to look addresses up in. */
  readonly isKnown: boolean
  /** ISO 3166-1 alpha-2, in upper case. */
  of(address: string): string | undefined
}

/** Countries of addresses from a file in the MaxMind format. */
export function countries(path: string | undefined, log: Log): Countries {
  const file = geoFile(path, (error) =>
    log.error({ err: error, alert: true }, 'GEOIP_DATABASE cannot be read'),
  )
  // Whoever starts with a file that cannot be read is told at once.
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
