import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'

const text = (maxLength: number, more: object = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength, ...more })))
const url = () => text(2048, { examples: ['https://acme.example/logo.png'] })
const color = () =>
  text(9, { pattern: '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$', examples: ['#1a2b3c'] })
export const MARKUP = 100_000

const fields = {
  logo_url: url(),
  primary_color: color(),
  secondary_color: color(),
  brand_name: text(255, { examples: ['Acme Mail'] }),
  custom_domain: text(253, { examples: ['mail.acme.example'] }),
  login_page_html: text(MARKUP, { description: 'Sanitized before it is stored' }),
  footer_html: text(MARKUP, { description: 'Sanitized before it is stored' }),
  favicon_url: url(),
  support_email: text(254, { pattern: EMAIL_PATTERN, examples: ['help@acme.example'] }),
  support_url: url(),
  custom_css: text(MARKUP, { description: 'Sanitized before it is stored' }),
}

export const BRAND_FIELDS = Object.keys(fields) as (keyof typeof fields)[]
export type BrandField = (typeof BRAND_FIELDS)[number]
export type Brand = { [Field in BrandField]?: string }

/** An absent field keeps its value; null removes it. */
export const BrandChange = Body(fields)

export const WhitelabelConfig = Type.Object(
  {
    organization_id: Type.String(),
    whitelabel: Type.Object(fields, { description: 'The fields that are set' }),
    domain_verified_at: Nullable(Timestamp),
    updated_at: Nullable(Timestamp),
  },
  { title: 'WhitelabelConfig' },
)

export const DomainVerification = Type.Object({
  organization_id: Type.String(),
  custom_domain: Type.String(),
  verified: Type.Boolean(),
  resolved_cname: Nullable(Type.String()),
  message: Type.String({ examples: ['CNAME verified'] }),
})

export const Preview = Type.Object({
  organization_id: Type.String(),
  html: Type.String({ examples: ['<!doctype html>…'] }),
})

export const Removed = Type.Object({ organization_id: Type.String(), removed: Type.Boolean() })

export const HostQuery = Type.Object({
  host: Type.Optional(
    Type.String({ maxLength: 253, description: 'A host name; unset: that of the request' }),
  ),
})

const { custom_domain: _, ...visible } = fields
export const PublicBrand = Type.Object(
  {
    host: Type.String({ examples: ['mail.acme.example'] }),
    is_branded: Type.Boolean({ description: 'false: show the brand of the installation' }),
    whitelabel: Type.Object(visible, { description: 'The fields that are set' }),
  },
  { title: 'PublicBrand' },
)

export const BrandParams = Type.Object({ org_id: Type.String() })
