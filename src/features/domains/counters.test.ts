import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ulid } from '../../lib/ulid.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let acme: Tenant
let globex: Tenant

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const counted = sql<object>`
  select domains.id, total_email_accounts, domains.inactive_email_accounts,
    domains.suspended_email_accounts, allotted_storage, domains.total_storage_used,
    total_emails, domain_count, inactive_domain_count, email_account_count,
    organizations.inactive_email_accounts as inactive_of_organization,
    organizations.suspended_email_accounts as suspended_of_organization,
    organizations.total_storage_used as used_by_organization, storage_quota
  from domains join organizations on organizations.id = organization_id
  order by domains.id`

/** The same figures, computed from the rows. */
const summed = sql<object>`
  select domains.id, own.accounts as total_email_accounts, own.inactive as inactive_email_accounts,
    own.suspended as suspended_email_accounts, own.allotted as allotted_storage,
    own.used as total_storage_used, own.emails as total_emails,
    of_organization.domains as domain_count, of_organization.inactive as inactive_domain_count,
    everybody.accounts as email_account_count, everybody.inactive as inactive_of_organization,
    everybody.suspended as suspended_of_organization, everybody.used as used_by_organization,
    of_organization.quota as storage_quota
  from domains
  cross join lateral (
    select count(*)::int as accounts, count(*) filter (where status = 'inactive')::int as inactive,
      count(*) filter (where status = 'suspended')::int as suspended,
      coalesce(sum(storage_quota), 0) as allotted, coalesce(sum(storage_used), 0)::bigint as used,
      coalesce(sum(total_emails), 0)::bigint as emails
    from email_accounts where domain_id = domains.id
  ) as own
  cross join lateral (
    select count(*)::int as accounts, count(*) filter (where status = 'inactive')::int as inactive,
      count(*) filter (where status = 'suspended')::int as suspended,
      coalesce(sum(storage_used), 0)::bigint as used
    from email_accounts where organization_id = domains.organization_id
  ) as everybody
  cross join lateral (
    select count(*)::int as domains, count(*) filter (where not active)::int as inactive,
      sum(max_quota)::bigint as quota
    from domains as others where others.organization_id = domains.organization_id
  ) as of_organization
  order by domains.id`

const expectExact = async () =>
  expect((await counted.execute(app.core.db)).rows).toEqual(
    (await summed.execute(app.core.db)).rows,
  )

it('counters are exact after statements that touch many mailboxes of several tenants', async () => {
  const { db } = app.core
  const base = ulid().slice(0, 20)
  await sql`
    insert into email_accounts (id, organization_id, domain_id, email, password_hash, status,
      storage_used, total_emails)
    select ${base}::text || lpad(n::text, 6, '0'), organization_id, id, 'user' || n || '@' || domain,
      '', (array['active', 'inactive', 'suspended'])[1 + n % 3], n, n * 2
    from generate_series(1, 3000) n
    join domains on domains.id = case when n % 4 = 0 then ${globex.domainId} else ${acme.domainId} end`.execute(
    db,
  )
  await expectExact()
  await sql`update email_accounts set storage_used = storage_used + 7, storage_quota = 5,
    status = case when status = 'inactive' then 'suspended' else status end`.execute(db)
  await expectExact()
  await sql`update email_accounts set last_login = now()`.execute(db)
  await expectExact()
  await sql`delete from email_accounts where total_emails % 5 = 2`.execute(db)
  await expectExact()
  await sql`delete from email_accounts where false`.execute(db)
  await expectExact()
})

it('counters are exact after domains are deactivated, enlarged and removed', async () => {
  const { db } = app.core
  const base = ulid().slice(0, 22)
  await sql`insert into domains (id, organization_id, domain, active)
    select ${base}::text || lpad(n::text, 4, '0'), ${acme.organizationId}, 'more' || n || '.test', n % 2 = 0
    from generate_series(1, 20) n`.execute(db)
  await expectExact()
  await sql`update domains set active = not active, max_quota = max_quota + 1`.execute(db)
  await expectExact()
  await sql`delete from domains where domain like 'more%' and active`.execute(db)
  await expectExact()
})

it('counters change once per statement, so that an insert of 10,000 mailboxes is quick', async () => {
  const { db } = app.core
  const { rows } = await sql<{ name: string; isPerRow: boolean }>`
    select tgname as name, (tgtype & 1) = 1 as "isPerRow" from pg_trigger
    where tgname like '%\\_count\\_%' and tgrelid in ('email_accounts'::regclass, 'domains'::regclass)
    `.execute(db)
  expect(rows).toHaveLength(6)
  expect(rows.filter(({ isPerRow }) => isPerRow)).toEqual([])
  await sql`
    insert into email_accounts (id, organization_id, domain_id, email, password_hash)
    select 'bulk' || n, ${acme.organizationId}, ${acme.domainId}, 'bulk' || n || '@acme.test', ''
    from generate_series(1, 10000) n`.execute(db)
  await expectExact()
})
