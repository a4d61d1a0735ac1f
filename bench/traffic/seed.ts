import type { Sql } from 'postgres'

export const DOMAINS = 2000

/** The busiest domain and its organization. */
export const BUSIEST = { organization: 'O0', domain: 'd0.example' }

const chance = (salt: number) =>
  `((hashint8extended(n, ${salt}) & 1073741823)::float8 / 1073741824)`
// A few domains send most of the mail.
const domain = (salt: number) =>
  `'d' || floor(${DOMAINS} * power(${chance(salt)}, 4))::int || '.example'`

/** Inserts the mail of that many days: most outbound, some inbound, some local. */
export async function seed(sql: Sql, rows: number, days: number): Promise<void> {
  await sql.unsafe(`
    insert into organizations (id, name, created_at)
    select 'O' || n, 'Organization ' || n, now() - ${chance(1)} * interval '700 days'
    from generate_series(0, ${DOMAINS - 1}) n;
    insert into domains (id, organization_id, domain, ownership_verified_at, created_at)
    select 'D' || n, 'O' || n, 'd' || n || '.example', now(), now() - ${chance(2)} * interval '700 days'
    from generate_series(0, ${DOMAINS - 1}) n;

    select make_day('mail_log', 'timestamp', day::date)
    from generate_series(now() - interval '${days} days', now(), '1 day') as day;

    -- Counted set-wise afterwards, which is much faster; and so are indexes.
    alter table mail_log disable trigger mail_log_count;
    create temporary table indexes_of_mail_log as
    select indexname, replace(indexdef, ' ON ONLY ', ' ON ') as indexdef from pg_indexes
    where tablename = 'mail_log' and indexname not in (select conname from pg_constraint);
    do $$ declare name text; begin
      for name in select indexname from indexes_of_mail_log loop execute format('drop index %I', name); end loop;
    end $$;

    insert into mail_log (id, "timestamp", sender, recipient, organization_id, subject, status,
      message_id, queue_id, relay, size, delays, dsn, spam_score, sasl_username)
    select 'seed' || lpad(n::text, 22, '0'),
      now() - interval '${days} days' * (1 - n::float8 / ${rows}),
      sender, recipient,
      case when ${chance(3)} < 0.8 then 'O' || substring(sender from '@d(\\d+)')
        else 'O' || substring(recipient from '@d(\\d+)') end,
      'Your order ' || n || ' is on its way',
      case when ${chance(4)} < 0.9 then 'delivered' when ${chance(4)} < 0.95 then 'deferred'
        when ${chance(4)} < 0.98 then 'bounced' else 'rejected' end,
      '<' || n || '.seed@mail.example>', '4jXk' || n, 'mx.elsewhere.test[192.0.2.7]:25',
      800 + n % 60000, '0.05/0.01/0.4/0.74', '2.0.0', round((${chance(5)} * 10)::numeric, 1), sender
    from generate_series(1, ${rows}) n
    cross join lateral (select
      case when ${chance(3)} < 0.8 then 'a' || n % 500 || '@' || ${domain(6)}
        else 'x' || n % 5000 || '@elsewhere.test' end as sender,
      case when ${chance(3)} < 0.7 then 'y' || n % 5000 || '@elsewhere.test'
        else 'b' || n % 500 || '@' || ${domain(7)} end as recipient
    ) as addresses;

    do $$ declare definition text; begin
      for definition in select indexdef from indexes_of_mail_log loop execute definition; end loop;
    end $$;
    alter table mail_log enable trigger mail_log_count;
    select count_all_mail_traffic();
  `)
  await sql.unsafe('vacuum analyze')
}

export interface Sizes {
  rows: number
  log: number
  figures: number
}

export async function sizes(sql: Sql): Promise<Sizes> {
  const [row] = await sql<Sizes[]>`
    select (select count(*) from mail_log) as rows, 
      (select sum(pg_total_relation_size(relid))::bigint from pg_partition_tree('mail_log')) as log,
      pg_total_relation_size('mail_traffic_quarters') + pg_total_relation_size('mail_traffic_days')
        + pg_total_relation_size('mail_traffic_hours') as figures`
  return row as Sizes
}
