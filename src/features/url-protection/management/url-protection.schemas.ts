import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { REASONS, VERDICTS } from '../checking/verdict.ts'

const ENTRY_TYPES = ['url', 'domain', 'pattern', 'allowlist'] as const
const organization_id = Type.Optional(
  Type.String({ description: 'Platform callers only: the organization that is meant' }),
)
const auditReason = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Shown in the list and stored in the audit log',
  examples: ['Phishing campaign of today'],
})
const entry_type = OneOf(ENTRY_TYPES, {
  examples: ['domain'],
  description:
    'url: an address and everything below it; domain: a host and everything below it; pattern: a regular expression (RE2) on the whole address; allowlist: a host or address that always passes',
})
const entry = Type.String({ minLength: 1, maxLength: 2048, examples: ['evil.example'] })

export const OrganizationQuery = Type.Object({ organization_id })

export const Settings = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Links of incoming mail lead over the check' }),
    updated_at: Nullable(Timestamp),
  },
  { title: 'UrlProtectionSettings' },
)
export const SettingsBody = Body({ enabled: Type.Boolean(), organization_id })

export const UrlEntry = Type.Object(
  {
    id: Type.String(),
    organization_id: Nullable(Type.String({ description: 'null: applies to all organizations' })),
    entry_type,
    entry,
    reason: Nullable(Type.String({ examples: ['Phishing campaign of today'] })),
    created_by: Nullable(Type.String({ examples: ['admin@acme.example'] })),
    created_at: Timestamp,
  },
  { title: 'UrlEntry' },
)
export const EntryParams = Type.Object({ entry_id: Type.String() })
export const EntryQuery = Type.Object({
  ...PageQuery,
  entry_type: Type.Optional(OneOf(ENTRY_TYPES)),
  organization_id,
})
export const GlobalEntryQuery = Type.Object({
  ...PageQuery,
  entry_type: Type.Optional(OneOf(ENTRY_TYPES)),
})
export const NewEntry = Body({
  entry_type,
  entry,
  reason: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  organization_id,
})
export const NewGlobalEntry = Body({ entry_type, entry, reason: auditReason })
export const ReasonBody = Body({ reason: auditReason })

export const UrlClick = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    url: Type.String({ examples: ['https://shop.example/offer'] }),
    url_domain: Type.String({ examples: ['shop.example'] }),
    scan_result: OneOf(VERDICTS),
    reasons: Type.Array(Type.String({ examples: ['feed'] })),
    client_network: Type.String({
      description: 'The /24 of an IPv4 address, the /64 of an IPv6 address',
      examples: ['203.0.113.0'],
    }),
    clicked_at: Timestamp,
  },
  { title: 'UrlClick' },
)
export const ClickQuery = Type.Object({
  ...PageQuery,
  scan_result: Type.Optional(OneOf(VERDICTS)),
  url_domain: Type.Optional(Type.String({ description: 'Exact host' })),
  organization_id,
})

export const ScanBody = Body({
  url: Type.String({ minLength: 1, maxLength: 5800, examples: ['https://shop.example/offer'] }),
  organization_id,
})
export const UrlVerdict = Type.Object(
  {
    url: Type.String(),
    verdict: OneOf(VERDICTS),
    reasons: Type.Array(OneOf(REASONS), { examples: [['feed']] }),
  },
  { title: 'UrlVerdict' },
)

export const FeedFile = Type.Object(
  {
    path: Type.String({ examples: ['/etc/mailplane/urlhaus.txt'] }),
    entries: Type.Integer({ examples: [120_000] }),
    unread_lines: Type.Integer({ description: 'Lines that are neither a host nor an address' }),
    loaded_at: Nullable(Timestamp),
    problem: Nullable(
      Type.String({ description: 'Reason that the last reading failed; the one before applies' }),
    ),
  },
  { title: 'UrlFeedFile' },
)
export const LinkKeyState = Type.Object(
  {
    id: Type.Integer(),
    created_at: Timestamp,
    retired_at: Nullable(Timestamp),
    ends_at: Nullable(
      Type.String({ format: 'date-time', description: 'Links of this key work until then' }),
    ),
  },
  { title: 'UrlLinkKey' },
)
