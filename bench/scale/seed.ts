import type { Sql } from 'postgres'

/** The number of rows of each kind, in addition to the rows of the bootstrap. */
export const SIZES = {
  organizations: 1000,
  domains: 5000,
  mailboxes: 200_000,
  aliases: 20_000,
  credentials: 5000,
  sharedMailboxes: 2000,
}

/** The large tenant is the first organization; half of its mailboxes are at its first domain. */
export const LARGE = { domains: 5, mailboxes: 20_000, inFirstDomain: 10_000 }

const id = (kind: string, n: number | string) => `'01SCALE${kind}' || lpad((${n})::text, 18, '0')`
export const idOf = (kind: 'D' | 'M' | 'O' | 'A' | 'C' | 'S', n: number) =>
  `01SCALE${kind}${String(n).padStart(18, '0')}`

const words = (list: string) => `'{${list.split(' ').join(',')}}'::text[]`
const FIRST = words(
  'anna ben carla david elena felix grace henry ines jonas karin liam maria noah olivia paul quinn rosa simon tara ' +
    'umar vera walter xenia yusuf zoe amir bianca chen dilara emil fatima gustav hana ivan jasmin',
)
const LAST = words(
  'smith meyer garcia rossi novak larsen dubois tanaka kowalski silva fischer okafor haddad ivanova jensen keller ' +
    'lopez moreau nagy oliveira petrov quist rahman schmidt tran ulrich vogel weber xu yilmaz zimmer adler bauer costa',
)
const NOUN = words(
  'harbor maple orchard summit lantern meadow copper falcon granite willow ember juniper raven saffron tundra velvet',
)
const TRADE = words('logistics foods design energy health travel media labs finance textiles')
const pick = (list: string, n: string) => `(${list})[1 + (${n}) % cardinality(${list})]`
/** Numbers evenly spread over [0, 1), identical in every run. */
const chance = (n: string, salt: number) =>
  `((hashint8extended((${n})::int8, ${salt}) & 1048575) / 1048576.0)`

/**
 * Inserts many tenants, most of them small. Triggers are disabled because they count row by row;
 * the counters are written in one statement at the end.
 */
export async function seed(sql: Sql): Promise<void> {
  await sql.begin((tx) =>
    tx.unsafe(`set local session_replication_role = replica; ${rows} ${sums}`).simple(),
  )
  // An index-only scan needs the visibility map.
  await sql.unsafe('vacuum analyze')
}

const rows = `
  set maintenance_work_mem = '256MB';

  insert into organizations (id, name, external_id, active, created_at)
  select ${id('O', 'n')},
    initcap(${pick(NOUN, 'n * 7')} || ' ' || ${pick(TRADE, 'n * 3')}) || ' ' || n,
    'customer-' || n,
    ${chance('n', 1)} > 0.03,
    '2026-11-01'::timestamptz - ${chance('n', 2)} * interval '700 days'
  from generate_series(1, ${SIZES.organizations}) n;

  insert into domains (id, organization_id, domain, active, verified_at, ownership_verified_at,
    max_users, max_quota, created_at)
  select ${id('D', 'n')},
    ${id(
      'O',
      `case when n <= ${LARGE.domains} then 1
         when n < ${SIZES.organizations + LARGE.domains} then n - ${LARGE.domains} + 1
         else 2 + floor(${SIZES.organizations - 1} * power(${chance('n', 3)}, 2)) end`,
    )},
    ${pick(NOUN, 'n * 5')} || '-' || ${pick(TRADE, 'n')} || n || '.example',
    ${chance('n', 4)} > 0.05, now(), now(), 1000000, 1099511627776000,
    '2026-11-01'::timestamptz - ${chance('n', 5)} * interval '700 days'
  from generate_series(1, ${SIZES.domains}) n;

  -- The first ones in fixed shares, the others over all domains, a few of which have many.
  create temporary table placed as
  select n, domain, row_number() over (partition by domain order by n) + domain * 37 as nth
  from (
    select n, case
      when n <= ${LARGE.inFirstDomain} then 1
      when n <= ${LARGE.mailboxes} then 2 + n % ${LARGE.domains - 1}
      else ${LARGE.domains + 1}
        + floor(${SIZES.domains - LARGE.domains} * power(${chance('n', 6)}, 2))::int
      end as domain
    from generate_series(1, ${SIZES.mailboxes}) n
  ) as drawn;

  -- Indexes are built faster than they are extended, row by row, by 200,000 rows.
  create temporary table indexes as
  select indexname, indexdef from pg_indexes
  where tablename = 'email_accounts' and indexname not in (select conname from pg_constraint);
  do $$ declare name text; begin
    for name in select indexname from indexes loop execute format('drop index %I', name); end loop;
  end $$;

  insert into email_accounts (id, organization_id, domain_id, email, name, password_hash, status,
    storage_quota, storage_used, email_storage_used, total_emails, last_login, created_at)
  select ${id('M', 'n')}, domains.organization_id, domains.id,
    first || '.' || last || case when nth >= people then (nth / people)::text else '' end
      || '@' || domains.domain,
    initcap(first || ' ' || last),
    '$argon2id$v=19$m=19456,t=2,p=1$c2NhbGVzY2FsZXNjYWxl$c2NhbGVzY2FsZXNjYWxlc2NhbGVzY2FsZXNjYWxl',
    case when ${chance('n', 7)} < 0.03 then 'inactive'
      when ${chance('n', 7)} < 0.05 then 'suspended' else 'active' end,
    1073741824, floor(${chance('n', 8)} * 900000000), floor(${chance('n', 8)} * 900000000),
    floor(${chance('n', 9)} * 20000),
    case when ${chance('n', 10)} > 0.2
      then '2026-11-01'::timestamptz - ${chance('n', 11)} * interval '90 days' end,
    '2026-11-01'::timestamptz - ${chance('n', 12)} * interval '700 days'
  from placed
  join domains on domains.id = ${id('D', 'placed.domain')}
  cross join lateral (
    select cardinality(${FIRST}) * cardinality(${LAST}) as people,
      ${pick(FIRST, 'nth')} as first, ${pick(LAST, `nth / cardinality(${FIRST})`)} as last
  ) as named
  order by n;

  do $$ declare definition text; begin
    for definition in select indexdef from indexes loop execute definition; end loop;
  end $$;

  insert into aliases (id, organization_id, domain_id, source, destination, destinations, active, created_at)
  select ${id('A', 'n')}, organization_id, domains.id,
    ${pick(words('info sales support billing jobs press'), 'n / 5000')} || n || '@' || domain,
    'inbox@elsewhere.example', '{inbox@elsewhere.example}', ${chance('n', 13)} > 0.05,
    '2026-11-01'::timestamptz - ${chance('n', 14)} * interval '700 days'
  from generate_series(1, ${SIZES.aliases}) n
  join domains on domains.id = ${id('D', `case when n <= 2000 then 1 else 1 + n % ${SIZES.domains} end`)};

  insert into smtp_credentials (id, organization_id, domain_id, username, name, secret_hash, created_by, created_at)
  select ${id('C', 'n')}, organization_id, domains.id, 'smtp-' || n || '@' || domain, 'Invoices ' || n,
    '$2b$10$scalescalescalescalescalescalescalescalescalescalesca', 'api_key:scale',
    '2026-11-01'::timestamptz - ${chance('n', 15)} * interval '700 days'
  from generate_series(1, ${SIZES.credentials}) n
  join domains on domains.id = ${id('D', `case when n <= 1000 then 1 else 1 + n % ${SIZES.domains} end`)};

  insert into shared_mailboxes (id, organization_id, domain_id, email, name, created_at)
  select ${id('S', 'n')}, organization_id, domains.id, 'team-' || n || '@' || domain, 'Team ' || n,
    '2026-11-01'::timestamptz - ${chance('n', 16)} * interval '700 days'
  from generate_series(1, ${SIZES.sharedMailboxes}) n
  join domains on domains.id = ${id('D', `case when n <= 400 then 1 else 1 + n % ${SIZES.domains} end`)};

  insert into shared_mailbox_members (id, shared_mailbox_id, email_account_id, permission)
  select shared_mailbox_id || email_account_id, shared_mailbox_id, email_account_id, 'full_access'
  from (
    select ${id('S', 'n')} as shared_mailbox_id, ${id('M', 'n * 7 + k')} as email_account_id
    from generate_series(1, ${SIZES.sharedMailboxes}) n, generate_series(1, 3) k
  ) as members;
`

const sums = `
  insert into addresses (address, kind, owner_id)
  select email, 'mailbox', id from email_accounts where id like '01SCALE%'
  union all select source, 'alias', id from aliases
  union all select username, 'smtp_credential', id from smtp_credentials
  union all select email, 'shared_mailbox', id from shared_mailboxes;

  update domains set
    total_email_accounts = sums.accounts, total_storage_used = sums.used,
    total_email_storage = sums.emails_used, total_emails = sums.emails,
    inactive_email_accounts = sums.inactive, suspended_email_accounts = sums.suspended,
    allotted_storage = sums.allotted
  from (
    select domain_id, count(*) as accounts, sum(storage_used) as used,
      sum(email_storage_used) as emails_used, sum(total_emails) as emails,
      count(*) filter (where status = 'inactive') as inactive,
      count(*) filter (where status = 'suspended') as suspended, sum(storage_quota) as allotted
    from email_accounts group by domain_id
  ) as sums
  where domains.id = sums.domain_id;

  update organizations set
    domain_count = sums.domains, inactive_domain_count = sums.inactive_domains,
    email_account_count = sums.accounts,
    total_storage_used = sums.used, storage_quota = sums.quota,
    inactive_email_accounts = sums.inactive, suspended_email_accounts = sums.suspended
  from (
    select organization_id, count(*) as domains,
      count(*) filter (where not active) as inactive_domains, sum(total_email_accounts) as accounts,
      sum(total_storage_used) as used, sum(max_quota) as quota,
      sum(inactive_email_accounts) as inactive, sum(suspended_email_accounts) as suspended
    from domains group by organization_id
  ) as sums
  where organizations.id = sums.organization_id;
`
