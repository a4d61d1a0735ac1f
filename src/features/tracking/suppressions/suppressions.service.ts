import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import {
  lift,
  SUPPRESSION_TYPES,
  type SuppressionType,
  suppress,
} from '../../../hosting/suppressions.repository.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import { EMAIL_PATTERN } from '../../../lib/email.ts'
import type { OrganizationService } from '../../organizations/organizations.service.ts'
import { organizationMissing, tooManyAddresses, unknownType } from './suppressions.errors.ts'
import { list } from './suppressions.repository.ts'

const MAX_ADDRESSES = 1000
const MAX_LENGTH = 255
const SORT_COLUMNS = ['created_at', 'email'] as const
const SHAPE = new RegExp(EMAIL_PATTERN)

interface ListQuery {
  organization_id?: string
  suppression_type?: string
  active?: boolean
  q?: string
  date_from?: string
  date_to?: string
  sort_by?: string
  sort_dir?: string
}

interface BulkRequest {
  emails: string[]
  suppression_type?: string
  reason: string
  organization_id?: string | null
}

interface Needs extends Pick<Core, 'change' | 'db' | 'now'> {
  organizations: Pick<OrganizationService, 'get'>
}

export type SuppressionService = ReturnType<typeof suppressionService>

export const suppressionService = ({ change, db, now, organizations }: Needs) => {
  /** A tenant always gets its own organization; a platform caller must name one. */
  async function organizationFor(caller: Caller, sent: unknown): Promise<string> {
    if (caller.scope !== 'platform') return caller.scope.organization
    if (sent === undefined || sent === null || sent === '') throw organizationMissing()
    if (typeof sent !== 'string') throw new Unprocessable('organization_id must be a string')
    return (await organizations.get(caller, sent)).id
  }

  async function listed(query: ListQuery, page: Page) {
    const { suppression_type, date_from, date_to, sort_by, sort_dir, ...exact } = query
    const from = date_from === undefined ? undefined : parseIso(date_from)
    const to = date_to === undefined ? undefined : parseUpperBound(date_to)
    if (date_from !== undefined && !from) throw notADate('date_from')
    if (date_to !== undefined && !to) throw notADate('date_to')
    const filter = {
      ...exact,
      ...(suppression_type !== undefined && { suppression_type: typeOf(suppression_type) }),
      ...(from && { from }),
      ...(to && { to }),
    }
    const sort = { by: columnOf(sort_by), direction: directionOf(sort_dir) }
    const { items, total } = await list(db, filter, sort, page)
    return paginated(items, total, page)
  }

  return {
    /** A tenant sees its own; a platform caller those of one organization, or all. */
    listFor: (caller: Caller, { organization_id, ...query }: ListQuery, page: Page) => {
      const organization = caller.scope === 'platform' ? organization_id : caller.scope.organization
      return listed({ ...query, ...(organization && { organization_id: organization }) }, page)
    },

    list: listed,

    /** A manual suppression. A second call replaces the reason. */
    async suppress(caller: Caller, sent: { [name: string]: unknown }) {
      const { email: given, reason } = sent
      const organization_id = await organizationFor(caller, sent.organization_id)
      if (typeof given !== 'string') throw new Unprocessable('email must be a string')
      if (reason !== undefined && reason !== null && typeof reason !== 'string') {
        throw new Unprocessable('reason must be a string')
      }
      const email = given.trim().toLowerCase()
      if (!isAddress(email)) throw new Unprocessable('email is not a valid email address')
      const row = { email, organization_id, reason: reason || 'manual', source: null }
      await change(caller, (tx) => suppress(tx, 'MANUAL', [row], now()))
      return { status: 'success' as const, email }
    },

    /** Lifts suppressions of every type. It is no error when there is none. */
    async lift(caller: Caller, given: string, organizationId: string | undefined) {
      const organization = await organizationFor(caller, organizationId)
      const email = given.trim().toLowerCase()
      await change(caller, (tx) => lift(tx, email, organization, now()))
      return { status: 'success' as const, email }
    },

    async suppressMany(caller: Caller, sent: BulkRequest) {
      if (sent.emails.length > MAX_ADDRESSES) {
        throw tooManyAddresses(MAX_ADDRESSES, sent.emails.length)
      }
      const type = typeOf(sent.suppression_type ?? 'MANUAL')
      const organization_id = await organizationFor(caller, sent.organization_id)
      const emails = firstSpellings(sent.emails)
      const accepted = emails.filter(isAddress)
      const { reason } = sent
      await change(caller, (tx) =>
        suppress(
          tx,
          type,
          accepted.map((email) => ({ email, organization_id, reason, source: 'console' })),
          now(),
        ),
      )
      return {
        suppressed: accepted.map((email) => ({ email, suppression_type: type })),
        failed: emails
          .filter((email) => !isAddress(email))
          .map((email) => ({ email, error: 'not a valid email address' })),
        requested: emails.length,
        organization_id,
      }
    },
  }
}

const isAddress = (text: string): boolean => text.length <= MAX_LENGTH && SHAPE.test(text)

const firstSpellings = (emails: string[]): string[] => {
  const seen = new Map<string, string>()
  for (const email of emails.map((one) => one.trim())) {
    if (!seen.has(email.toLowerCase())) seen.set(email.toLowerCase(), email)
  }
  return [...seen.values()]
}

const notADate = (name: string) => new Unprocessable(`${name} must be an ISO date or datetime`)

function typeOf(text: string): SuppressionType {
  const found = SUPPRESSION_TYPES.find((type) => type === text.toUpperCase())
  if (!found) throw unknownType()
  return found
}

function columnOf(text: string = SORT_COLUMNS[0]): (typeof SORT_COLUMNS)[number] {
  const found = SORT_COLUMNS.find((column) => column === text)
  if (!found) throw new Unprocessable(`sort_by must be one of ${SORT_COLUMNS.join(', ')}`)
  return found
}

function directionOf(text = 'desc'): 'asc' | 'desc' {
  const word = text.toLowerCase()
  if (word !== 'asc' && word !== 'desc') throw new Unprocessable("sort_dir must be 'asc' or 'desc'")
  return word
}
