import type { Callers } from './installation.ts'
import { idOf, LARGE, SIZES } from './seed.ts'

export interface Case {
  /** The name of the request in the table. */
  name: string
  caller: keyof Callers
  path: string
  /** The total of these rows needs a scan of all rows. */
  matchesAll?: boolean
  /** PostgreSQL walks over the rows of all earlier pages. */
  isDeep?: boolean
}

const PER_PAGE = 50
// Part of every e-mail address.
const MATCHES_ALL = 'q=example'
const DEEP_PAGE = 1000
const lastPage = (rows: number) => Math.floor(rows / PER_PAGE)

const accounts = '/api/v1/mailboxes/email-accounts'
const domains = '/api/v1/domains/'
const organizations = '/api/v1/organizations/'
const aliases = '/api/v1/aliases/get/all'
const credentials = '/api/v1/smtp-credentials/'
const shared = '/api/v1/shared-mailboxes'

/** The request that all others are compared with. */
export const yardstick: Case = {
  name: 'mailbox by id',
  caller: 'platform',
  path: `${accounts}/${idOf('M', 4711)}`,
}

const by = (...columns: string[]) => columns.map((column) => `sort_by=${column}`)
const mailboxSorts = by('email', 'created_at', 'storage_used', 'last_login')
const domainSorts = by('domain', 'created_at', 'total_storage_used')
const organizationSorts = by(
  'name',
  'created_at',
  'domain_count',
  'email_account_count',
  'total_storage_used',
)

/** The first page and a deep page of a list, with every sort order and filter. */
function pages(
  what: string,
  caller: Case['caller'],
  path: string,
  deepPage: number,
  queries: string[],
): Case[] {
  return queries.flatMap((query) =>
    [1, deepPage]
      .filter((page, index, all) => all.indexOf(page) === index)
      .map((page) => ({
        name: [what, ...(query === '' ? [] : [shorten(query)]), `page ${page}`].join(', '),
        caller,
        path: `${path}?${query}${query === '' ? '' : '&'}page=${page}&per_page=${PER_PAGE}`,
        ...(query === MATCHES_ALL && { matchesAll: true }),
        ...(page >= DEEP_PAGE && { isDeep: true }),
      })),
  )
}

const shorten = (query: string) =>
  query
    .replace('sort_by=', 'by ')
    .replace(/domain_id=\w+/, 'domain')
    .replaceAll('&', ' ')

const slices = (caller: Case['caller'], query: string, rows: number): Case[] =>
  [0, rows - PER_PAGE].map((offset) => ({
    name: ['smtp credentials', ...(query === '' ? [] : [shorten(query)]), `from ${offset}`].join(
      ', ',
    ),
    caller,
    path: `${credentials}?${query}${query === '' ? '' : '&'}limit=${PER_PAGE}&offset=${offset}`,
  }))

const largeDomain = `domain_id=${idOf('D', 1)}`

const gets = (caller: Case['caller']): Case[] => [
  { name: 'mailbox by id', caller, path: yardstick.path },
  { name: 'organization by id (5 domains)', caller, path: `${organizations}${idOf('O', 1)}` },
  { name: 'domain by id (200 mailboxes)', caller, path: `${domains}${idOf('D', 1)}` },
  { name: 'alias by id', caller, path: `/api/v1/aliases/get/${idOf('A', 1000)}` },
  { name: 'smtp credential by id', caller, path: `${credentials}${idOf('C', 500)}` },
  { name: 'shared mailbox by id', caller, path: `${shared}/${idOf('S', 200)}` },
]

export const cases: Case[] = [
  ...gets('platform'),
  ...pages('mailboxes', 'platform', accounts, DEEP_PAGE, mailboxSorts),
  ...pages('mailboxes', 'platform', accounts, lastPage(SIZES.mailboxes), ['']).slice(1),
  ...pages('mailboxes', 'platform', accounts, DEEP_PAGE, ['status=active']),
  ...pages('mailboxes', 'platform', accounts, 70, [
    'status=suspended',
    'status=suspended&sort_by=created_at',
  ]),
  ...pages('mailboxes', 'platform', accounts, lastPage(LARGE.inFirstDomain), [largeDomain]),
  ...pages('mailboxes', 'platform', accounts, 1, ['q=grace.kel', 'q=novak', MATCHES_ALL]),
  ...pages('domains', 'platform', domains, lastPage(SIZES.domains), [
    ...domainSorts,
    'active=true',
  ]),
  ...pages('domains', 'platform', domains, 1, [
    'active=false',
    'q=falcon-labs17',
    'q=labs',
    MATCHES_ALL,
  ]),
  ...pages(
    'organizations',
    'operator',
    organizations,
    lastPage(SIZES.organizations),
    organizationSorts,
  ),
  ...pages('organizations', 'operator', organizations, 1, [
    'active=false',
    'over_quota=true',
    'q=falcon+labs',
    MATCHES_ALL,
  ]),
  ...pages('aliases', 'platform', aliases, lastPage(SIZES.aliases * 0.94), ['']),
  ...slices('platform', '', SIZES.credentials),
  ...slices('platform', largeDomain, 1000),
  ...pages('shared mailboxes', 'platform', shared, lastPage(SIZES.sharedMailboxes), ['']),

  ...gets('tenant'),
  ...pages('mailboxes', 'tenant', accounts, lastPage(LARGE.mailboxes), [
    ...mailboxSorts,
    'status=active',
  ]),
  ...pages('mailboxes', 'tenant', accounts, 1, ['status=suspended']),
  ...pages('mailboxes', 'tenant', accounts, lastPage(LARGE.inFirstDomain), [
    largeDomain,
    `${largeDomain}&sort_by=created_at`,
  ]),
  ...pages('mailboxes', 'tenant', accounts, 1, ['q=grace.kel', 'q=novak', MATCHES_ALL]),
  ...pages('domains', 'tenant', domains, 1, [...domainSorts, 'q=labs']),
  ...pages('aliases', 'tenant', aliases, lastPage(1800), ['']),
  ...slices('tenant', '', 1000),
  ...pages('shared mailboxes', 'tenant', shared, lastPage(400), ['']),
]
