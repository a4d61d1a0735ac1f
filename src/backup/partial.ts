import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'
import { StartupError } from '../startup-error.ts'
import { OBSERVED, type PartTable, tablesOfMailbox, tablesOfOrganization } from './part-tables.ts'

const BATCH_ROWS = 500
const SHOWN_CONFLICTS = 20

/** The part of a backup that is restored. */
export type Part = { kind: 'organization'; id: string } | { kind: 'mailbox'; email: string }

export interface RestoredTable {
  table: string
  in_backup: number
  /** Missing rows that were inserted. */
  inserted: number
  /** Rows that are there with other values: replaced, or left as they are. */
  changed: number
}

interface Restoring {
  /** The database that holds the backup. */
  from: Db
  into: Tx
  part: Part
  /** Gives changed rows the values of the backup; otherwise they stay. */
  replace: boolean
  progress(table: string, rows: number): void
}

/**
 * Brings back what is missing of one organization or one mailbox, with its ids, so that mail that is
 * still on disk belongs to it again. Nothing is deleted, and only rows of the part are written. All
 * conflicts are found before it throws; the caller rolls back.
 */
export async function restorePart({ from, into, part, replace, progress }: Restoring) {
  const { organizationId, subject, tables } = await findPart(from, part)
  const results: RestoredTable[] = []
  const conflicts: string[] = []
  for (const table of tables) {
    const shape = await shapeOf(into, table)
    const result = { table: table.name, in_backup: 0, inserted: 0, changed: 0 }
    for (let offset = 0; ; offset += BATCH_ROWS) {
      const { rows, count } = await batch(from, shape, table.rows(subject), offset)
      if (count === 0) break
      result.in_backup += count
      const restored = await putBatch(into, shape, rows, { organizationId, replace, conflicts })
      result.inserted += restored.inserted
      result.changed += restored.changed
      if (count < BATCH_ROWS) break
    }
    progress(table.name, result.inserted)
    results.push(result)
  }
  if (conflicts.length > 0) {
    const more = conflicts.length - SHOWN_CONFLICTS
    throw new StartupError(
      `nothing was restored: ${conflicts.slice(0, SHOWN_CONFLICTS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    )
  }
  await renewSync(into, part, subject)
  await keepMail(into, from, part, subject)
  return { organizationId, tables: results }
}

async function findPart(from: Db, part: Part) {
  if (part.kind === 'organization') {
    const found = await from
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', part.id)
      .executeTakeFirst()
    if (!found) throw new StartupError(`the backup has no organization ${part.id}`)
    return { organizationId: part.id, subject: part.id, tables: tablesOfOrganization }
  }
  const found = await from
    .selectFrom('email_accounts')
    .select(['id', 'organization_id'])
    .where('email', '=', part.email.toLowerCase())
    .execute()
  const [account] = found
  if (!account) throw new StartupError(`the backup has no mailbox ${part.email}`)
  if (found.length > 1) {
    throw new StartupError(`the backup has ${part.email} in ${found.length} organizations`)
  }
  return {
    organizationId: account.organization_id,
    subject: account.id,
    tables: tablesOfMailbox,
  }
}

interface Shape {
  table: PartTable
  columns: string[]
  key: string[]
  hasOrganization: boolean
}

async function shapeOf(db: Tx, table: PartTable): Promise<Shape> {
  const { rows } = await sql<{ name: string; is_key: boolean }>`
    select attname::text as name, coalesce(attnum = any(index.indkey), false) as is_key
    from pg_attribute
    left join pg_index index on index.indrelid = attrelid and index.indisprimary
    where attrelid = ${table.name}::regclass and attnum > 0 and not attisdropped
      and attgenerated = '' order by attnum`.execute(db)
  const columns = rows.map(({ name }) => name)
  return {
    table,
    columns,
    key: rows.flatMap(({ name, is_key }) => (is_key ? name : [])),
    hasOrganization: columns.includes('organization_id'),
  }
}

async function batch(
  from: Db,
  { table, key }: Shape,
  where: RawBuilder<SqlBool>,
  offset: number,
): Promise<{ rows: string; count: number }> {
  const order = sql.join(key.map((column) => sql.ref(column)))
  const { rows } = await sql<{ rows: string | null; count: number }>`
    select jsonb_agg(to_jsonb(picked))::text as rows, count(*)::int as count from (
      select * from ${sql.table(table.name)} where ${where}
      order by ${order} limit ${BATCH_ROWS} offset ${offset}) as picked`.execute(from)
  return { rows: rows[0]?.rows ?? '[]', count: rows[0]?.count ?? 0 }
}

interface Putting {
  organizationId: string
  replace: boolean
  conflicts: string[]
}

async function putBatch(into: Tx, shape: Shape, rows: string, putting: Putting) {
  const { table, columns, key, hasOrganization } = shape
  const { organizationId, replace, conflicts } = putting
  const name = sql.table(table.name)
  const incoming = sql`jsonb_populate_recordset(null::${name}, ${rows}::text::jsonb) as incoming`
  const same = sql.join(
    key.map((column) => sql`live.${sql.ref(column)} = incoming.${sql.ref(column)}`),
    sql` and `,
  )
  const counted = new Set(table.counted ?? [])
  const unset = new Set(table.unset ?? [])
  const values = columns.map((column) => {
    if (counted.has(column)) return sql`0`
    return unset.has(column) ? sql`null` : sql`incoming.${sql.ref(column)}`
  })
  const fixed = new Set([...key, ...counted, ...unset, ...OBSERVED])
  const settable = columns.filter((column) => !fixed.has(column))
  const pick = (from: string) =>
    sql`row(${sql.join(settable.map((column) => sql.ref(`${from}.${column}`)))})`

  if (hasOrganization) {
    const foreign = await sql`
      select from ${incoming} join ${name} as live on ${same}
      where live.organization_id is distinct from ${organizationId}`.execute(into)
    if (foreign.rows.length > 0) {
      conflicts.push(`${table.name}: ${foreign.rows.length} rows belong to another organization`)
      return { inserted: 0, changed: 0 }
    }
  }
  await sql`savepoint restore_batch`.execute(into)
  try {
    const inserted = await sql`
      insert into ${name} (${sql.join(columns.map((column) => sql.ref(column)))})
      overriding system value
      select ${sql.join(values)} from ${incoming}
      where not exists (select from ${name} as live where ${same})
        and ${table.onlyIf ?? sql`true`}`.execute(into)
    const changed =
      settable.length === 0
        ? 0
        : await changes(into, { name, incoming, same, settable, pick, replace })
    return { inserted: Number(inserted.numAffectedRows ?? 0), changed }
  } catch (error) {
    await sql`rollback to savepoint restore_batch`.execute(into)
    const { message, detail } = error as Error & { detail?: string }
    conflicts.push(`${table.name}: ${message}${detail ? ` (${detail})` : ''}`)
    return { inserted: 0, changed: 0 }
  }
}

interface Comparing {
  name: RawBuilder<unknown>
  incoming: RawBuilder<unknown>
  same: RawBuilder<unknown>
  settable: string[]
  pick(from: string): RawBuilder<unknown>
  replace: boolean
}

async function changes(into: Tx, comparing: Comparing): Promise<number> {
  const { name, incoming, same, settable, pick, replace } = comparing
  const differs = sql`${pick('live')} is distinct from ${pick('incoming')}`
  if (!replace) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${incoming} join ${name} as live on ${same}
      where ${differs}`.execute(into)
    return rows[0]?.count ?? 0
  }
  const set = sql.join(
    settable.map((column) => sql`${sql.ref(column)} = incoming.${sql.ref(column)}`),
  )
  const updated = await sql`
    update ${name} as live set ${set} from ${incoming} where ${same} and ${differs}`.execute(into)
  return Number(updated.numAffectedRows ?? 0)
}

/**
 * Counts the objects of the calendars and address books, and invalidates all sync tokens and states of
 * JMAP, so that programs read them anew. Those that were handed out after the backup must not fit by chance.
 */
async function renewSync(into: Tx, part: Part, subject: string): Promise<void> {
  const owner = part.kind === 'mailbox' ? sql`account_id` : sql`organization_id`
  await sql`
    update dav_collections set
      seq = seq + 1000000,
      forgotten_seq = seq + 1000000,
      object_count = found.objects,
      bytes = found.bytes
    from (
      select id as collection, count(dav_objects.uri) as objects, coalesce(sum(size), 0) as bytes
      from dav_collections left join dav_objects on collection_id = id and not gone
      where ${owner} = ${subject} group by id
    ) as found
    where id = found.collection`.execute(into)
  const accounts = part.kind === 'mailbox' ? sql`id` : sql`organization_id`
  // A state begins at the time and grows by one with each change.
  await sql`
    update jmap_accounts set state = newest, forgotten = newest
    from (
      select id as account, greatest(state, (extract(epoch from now()) * 1000)::bigint) as newest
      from jmap_accounts where ${accounts} = ${subject}
    ) as found
    where id = found.account`.execute(into)
}

/** The mail of a restored mailbox stays on disk: without this a job would remove it later. */
async function keepMail(into: Tx, from: Db, part: Part, subject: string): Promise<void> {
  const owners =
    part.kind === 'mailbox'
      ? [subject]
      : (
          await sql<{ id: string }>`
            select id from email_accounts where organization_id = ${subject}
            union all select id from shared_mailboxes where organization_id = ${subject}`.execute(
            from,
          )
        ).rows.map(({ id }) => id)
  const list = JSON.stringify(owners)
  const ids = sql`(select jsonb_array_elements_text(${list}::text::jsonb))`
  const busy = await sql`
    select from deleted_mailboxes where id in ${ids} and lease_until > now()`.execute(into)
  if (busy.rows.length > 0) {
    throw new StartupError('nothing was restored: the mail is being removed from disk right now')
  }
  await sql`delete from deleted_mailboxes where id in ${ids}`.execute(into)
}
