import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery, Paginated } from '../../../http/paging.ts'
import { exact, reason } from '../security.schemas.ts'

const ACTIONS = ['block', 'challenge', 'log_only'] as const
const countries = Type.Array(Type.String({ examples: ['DE'] }), {
  maxItems: 300,
  description: 'ISO 3166-1 alpha-2, in any case',
})

const TimeRestrictions = Type.Object({
  allowed_hours: Type.Object({ start: Type.Integer(), end: Type.Integer() }),
  timezone_offset: Type.Integer({ description: 'Hours from UTC' }),
  applies_to_countries: Type.Array(Type.String({ examples: ['DE'] }), {
    description: 'Empty: every country',
  }),
})

export const GeoPolicy = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String({ examples: ['Acme'] }),
    allowed_countries: Type.Array(Type.String({ examples: ['DE'] })),
    blocked_countries: Type.Array(Type.String({ examples: ['KP'] })),
    time_restrictions: Nullable(TimeRestrictions),
    action: OneOf(ACTIONS),
    enabled: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'GeoPolicy' },
)

const CountryLookup = {
  countries_known: Type.Boolean({
    description: 'A GeoIP database is loaded; without it no geo policy is enforced',
  }),
  schema_note: Type.Optional(
    Type.String({ description: 'Advice for configuring a GeoIP database, when none is loaded' }),
  ),
}

export const GeoPolicyPage = Type.Object({ ...Paginated(GeoPolicy).properties, ...CountryLookup })
export const WrittenGeoPolicy = Type.Object({ ...GeoPolicy.properties, ...CountryLookup })

export const GeoPolicyQuery = Type.Object({
  ...PageQuery,
  organization_id: exact(),
  action: Type.Optional(OneOf(ACTIONS)),
  enabled: Type.Optional(Type.Boolean()),
})

export const GeoPolicyParams = Type.Object({ policy_id: Type.String() })

/** Null counts as omitted; `{}` removes the time restrictions. */
const fields = {
  allowed_countries: Type.Optional(Nullable(countries)),
  blocked_countries: Type.Optional(Nullable(countries)),
  time_restrictions: Type.Optional(
    Nullable(
      Body(
        {
          allowed_hours: Type.Optional(
            Body({
              start: Type.Integer({ minimum: 0, maximum: 23 }),
              end: Type.Integer({ minimum: 0, maximum: 24 }),
            }),
          ),
          timezone_offset: Type.Optional(
            Type.Integer({ minimum: -12, maximum: 14, description: 'Default 0' }),
          ),
          applies_to_countries: Type.Optional(countries),
        },
        {
          description: 'Hours of the day at which logins are allowed; `{}` removes the restriction',
        },
      ),
    ),
  ),
  action: Type.Optional(Nullable(OneOf(ACTIONS, { default: 'block' }))),
  enabled: Type.Optional(Nullable(Type.Boolean())),
}

export const NewGeoPolicy = Body({
  organization_id: Type.String({ minLength: 1 }),
  ...fields,
  reason,
})

export const GeoPolicyChange = Body({
  ...fields,
  action: Type.Optional(Nullable(OneOf(ACTIONS))),
  reason,
})

export const DeletedGeoPolicy = Type.Object({
  id: Type.String(),
  organization_id: Type.String(),
})
