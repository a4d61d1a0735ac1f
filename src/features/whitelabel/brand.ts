import { invalidField } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { BRAND_FIELDS, type Brand, type BrandField, MARKUP } from './whitelabel.schemas.ts'

const MARKUP_FIELDS = ['login_page_html', 'footer_html', 'custom_css'] as const

/** The fields that are sanitized. */
export type Markup = Pick<Brand, (typeof MARKUP_FIELDS)[number]>

type Sent = { [Field in BrandField]?: string | null }

const READ: { [Field in BrandField]?: (value: string, field: Field) => string } = {
  logo_url: webAddress,
  favicon_url: webAddress,
  support_url: webAddress,
  custom_domain: domainName,
}

/** Values as stored: null and blank text remove a field. */
export async function readBrand(
  sent: Sent,
  sanitize: (markup: Markup) => Promise<Markup>,
): Promise<{ set: Brand; cleared: BrandField[]; names: BrandField[] }> {
  const markup: Markup = {}
  for (const field of MARKUP_FIELDS) if (sent[field]) markup[field] = sent[field]
  const sanitized: Brand = Object.keys(markup).length > 0 ? await sanitize(markup) : {}
  for (const field of MARKUP_FIELDS) {
    // Escaping makes text longer.
    if ((sanitized[field]?.length ?? 0) <= MARKUP) continue
    throw invalidField(field, `Must have at most ${MARKUP} characters after it was sanitized`)
  }
  const names = BRAND_FIELDS.filter((field) => sent[field] !== undefined)
  const set: Brand = {}
  const cleared: BrandField[] = []
  for (const field of names) {
    const value = (sanitized[field] ?? sent[field])?.trim()
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
