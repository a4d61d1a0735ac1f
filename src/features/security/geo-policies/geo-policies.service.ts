import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { refusing } from '../../../database/conflicts.ts'
import { type Countries, countries } from '../../../hosting/countries.ts'
import { lockOrganization } from '../../../hosting/tenants.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { NoUpdatableFields, OrganizationNotFound } from '../security.errors.ts'
import { GeoPolicyExists, GeoPolicyNotFound } from './geo-policies.errors.ts'
import * as policies from './geo-policies.repository.ts'
import {
  countriesOf,
  refuseOverlap,
  restrictionsOf,
  type SentRestrictions,
} from './geo-policies.rules.ts'

interface Sent {
  allowed_countries?: string[] | null
  blocked_countries?: string[] | null
  time_restrictions?: SentRestrictions | null
  action?: policies.GeoAction | null
  enabled?: boolean | null
}

const NO_DATABASE_NOTE =
  'No GeoIP database is loaded, so geo policies are stored but not enforced: set GEOIP_DATABASE to a country database in the MaxMind format'

export type GeoPolicyService = ReturnType<typeof geoPolicyService>

export function geoPolicyService({
  change,
  config,
  db,
  log,
  now,
}: Pick<Core, 'change' | 'config' | 'db' | 'log' | 'now'>) {
  let database: Countries | undefined
  const countryLookup = () => {
    database ??= countries(config.GEOIP_DATABASE, log)
    const { isKnown } = database
    return { countries_known: isKnown, ...(!isKnown && { schema_note: NO_DATABASE_NOTE }) }
  }

  return {
    async list(filter: policies.GeoPolicyFilter, page: Page) {
      const { items, total } = await policies.list(db, filter, page)
      return { ...paginated(items, total, page), ...countryLookup() }
    },

    async create(caller: Caller, { organization_id, ...sent }: Sent & { organization_id: string }) {
      const fields = fieldsOf(sent)
      refuseOverlap(fields.allowed_countries ?? [], fields.blocked_countries ?? [])
      const onlyOne = { geo_policies_organization_id_key: () => new GeoPolicyExists() }
      const policy = await refusing(onlyOne, () =>
        change(caller, async (tx) => {
          if (!(await lockOrganization(tx, organization_id))) throw new OrganizationNotFound()
          return policies.insert(tx, { id: ulid(), organization_id, ...fields }, now())
        }),
      )
      return { ...policy, ...countryLookup() }
    },

    /** Checks the lists for overlap as they are after the change. */
    async update(caller: Caller, id: string, sent: Sent) {
      const fields = fieldsOf(sent)
      const policy = await change(caller, async (tx) => {
        const stored = await policies.lock(tx, id)
        if (!stored) throw new GeoPolicyNotFound()
        if (Object.keys(fields).length === 0) throw new NoUpdatableFields()
        const merged = { ...stored, ...fields }
        refuseOverlap(merged.allowed_countries, merged.blocked_countries)
        return policies.update(tx, id, fields, now())
      })
      return { ...policy, ...countryLookup() }
    },

    delete: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        const removed = await policies.remove(tx, id)
        if (!removed) throw new GeoPolicyNotFound()
        return removed
      }),
  }
}

/** Null counts as omitted. */
function fieldsOf(sent: Sent): policies.GeoPolicyFields {
  const { allowed_countries: allowed, blocked_countries: blocked, action, enabled } = sent
  const times = sent.time_restrictions
  return {
    ...(allowed && { allowed_countries: countriesOf('allowed_countries', allowed) }),
    ...(blocked && { blocked_countries: countriesOf('blocked_countries', blocked) }),
    ...(times && { time_restrictions: restrictionsOf(times) }),
    ...(action && { action }),
    ...(enabled !== undefined && enabled !== null && { enabled }),
  }
}
