import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'

export const Alias = Type.Object(
  {
    id: Type.String(),
    source: Type.String({
      description: 'An address, or `@domain` for everything else at that domain',
      examples: ['info@acme.example'],
    }),
    destination: Type.String({
      description: 'As it was sent',
      examples: ['jane@acme.example,archive@elsewhere.example'],
    }),
    domain_id: Type.String(),
    organization_id: Type.String(),
    active: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    domain_description: Nullable(Type.String()),
    destination_count: Type.Integer({ examples: [2] }),
    destinations: Type.Array(Type.String(), {
      description: 'In lower case, each once, domains in A-labels',
      examples: [['jane@acme.example', 'archive@elsewhere.example']],
    }),
    monthly_forwards: Nullable(
      Type.Integer({ description: 'Messages of the last 30 days; null for a catch-all' }),
    ),
  },
  { title: 'Alias' },
)

export const AliasList = Type.Array(Alias)

export const AliasParams = Type.Object({
  alias_id: Type.String({ description: 'An id, a source, or `all` for a page of the active ones' }),
})
export const AliasQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
  ...SortQuery(['source', 'created_at']),
  q: Type.Optional(Type.String({ description: 'Part of source or destination' })),
  domain: Type.Optional(Type.String({ description: 'Name of the domain' })),
  active: Type.Optional(
    Type.Unsafe<boolean | 'any'>({
      anyOf: [{ type: 'boolean' }, { type: 'string', enum: ['any'] }],
      default: true,
      description: '`any` lists active and inactive ones',
    }),
  ),
})
export const DomainParams = Type.Object({ domain: Type.String() })

const Switch = Type.Unsafe<number | boolean>({
  type: ['integer', 'boolean'],
  description: '1 or 0, true or false',
  examples: [1],
})
const Destination = Type.String({
  description: 'Up to 100 addresses, separated by commas',
  examples: ['jane@acme.example,archive@elsewhere.example'],
})

export const NewAlias = Body({
  source: Type.String({
    description: 'An address of one of your domains; `@domain` or `*@domain` catches all the rest',
    examples: ['info@acme.example'],
  }),
  destination: Destination,
  active: Type.Optional(Switch),
})

export const CreatedAlias = Type.Object({
  alias_id: Type.String(),
  source: Type.String({ examples: ['info@acme.example'] }),
})

const Items = Type.Array(Type.String(), {
  description: 'Ids or sources, at most 1000',
  examples: [['info@acme.example']],
})

export const EditBody = Body({
  items: Items,
  attr: Body({ destination: Type.Optional(Destination), active: Type.Optional(Switch) }),
})

export const DeleteBody = Items

const outcome = {
  status: Type.String({ description: 'success or error', examples: ['success'] }),
  msg: Type.String(),
}

export const Edited = Type.Array(Type.Object({ alias: Type.String(), ...outcome }))

export const Deleted = Type.Array(
  Type.Object({ alias: Type.String(), source: Type.Optional(Type.String()), ...outcome }),
)

export const BulkBody = Body({
  aliases: Type.Array(NewAlias, { description: 'At most 1000' }),
})

export const BulkResult = Type.Object({
  summary: Type.Object({
    total: Type.Integer(),
    success: Type.Integer(),
    errors: Type.Integer(),
  }),
  results: Type.Array(Type.Object({ source: Type.String(), ...outcome })),
})

export const AliasStats = Type.Object(
  {
    basic_stats: Type.Object({
      total_aliases: Type.Integer(),
      active_aliases: Type.Integer(),
      inactive_aliases: Type.Integer(),
    }),
    top_destinations: Type.Array(
      Type.Object({ destination: Type.String(), usage_count: Type.Integer() }),
      { description: 'Of active aliases, up to 10, by their whole text' },
    ),
    monthly_volume: Type.Array(
      Type.Object({
        date: Type.String({ examples: ['2026-11-15'] }),
        forwards_count: Type.Integer(),
      }),
      { description: 'The last 30 days; days without mail are left out' },
    ),
  },
  { title: 'AliasStats' },
)
