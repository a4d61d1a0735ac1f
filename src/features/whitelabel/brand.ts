import { invalidField } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { safeCss } from '../../lib/safe-css.ts'
import { safeHtml } from '../../lib/safe-html.ts'
import { BRAND_FIELDS, type Brand, type BrandField } from './whitelabel.schemas.ts'

type Sent = { [Field in BrandField]?: string | null }

const READ: { [Field in BrandField]?: (value: string, field: Field) => string } = {
  logo_url: webAddress,
  favicon_url: webAddress,
  support_url: webAddress,
  custom_domain: domainName,
  login_page_html: safeHtml,
  footer_html: safeHtml,
  custom_css: safeCss,
}

/** What was sent, as it may be stored: null takes a field away, and so does nothing but blanks. */
export function readBrand(sent: Sent): { set: Brand; cleared: BrandField[]; names: BrandField[] } {
  const names = BRAND_FIELDS.filter((field) => sent[field] !== undefined)
  const set: Brand = {}
  const cleared: BrandField[] = []
  for (const field of names) {
    const value = sent[field]?.trim()
    const read = READ[field] as ((value: string, field: BrandField) => string) | undefined
    const kept = value ? (read?.(value, field) ?? value) : ''
    if (kept === '') cleared.push(field)
    else set[field] = kept
  }
  return { set, cleared, names }
}

function webAddress(value: string, field: BrandField): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!url || !isWeb || url.username || url.password) {
    throw invalidField(field, 'Must be an http or https address without a login in it')
  }
  return url.href
}

function domainName(value: string, field: BrandField): string {
  const name = toDomainName(value)
  if (!name) throw invalidField(field, 'Must be a domain name, such as mail.acme.example')
  return name
}
