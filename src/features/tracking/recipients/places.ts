import type { Core } from '../../../core.ts'
import { geoFile } from '../../../lib/geo-file.ts'

export interface Place {
  country: string | null
  region: string | null
  city: string | null
}

interface Named {
  iso_code?: unknown
  names?: { en?: unknown }
}

const NOWHERE: Place = { country: null, region: null, city: null }
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

/** Looks up the place of an IP address in GEOIP_DATABASE. A country database has no cities. */
export function places({ config, log }: Pick<Core, 'config' | 'log'>) {
  const file = geoFile(config.GEOIP_DATABASE, (error) =>
    log.error({ err: error }, 'GEOIP_DATABASE cannot be read'),
  )
  return (address: string): Place => {
    const found = file.find(address) as
      | { country?: Named; registered_country?: Named; subdivisions?: Named[]; city?: Named }
      | undefined
    if (!found) return NOWHERE
    const [region] = found.subdivisions ?? []
    return {
      country: text((found.country ?? found.registered_country)?.iso_code)?.toUpperCase() ?? null,
      region: text(region?.names?.en) ?? text(region?.iso_code),
      city: text(found.city?.names?.en),
    }
  }
}
