import type { Sql } from 'postgres'
import { compare } from './migrate.ts'
import { purposeOf } from './migrations.ts'

export interface PlannedMigration {
  migration: string
  purpose: string
  runs: 'in a transaction' | 'outside a transaction'
  /** Says if processes of the previous version may go on beside the new schema. */
  older_version: 'keeps running' | 'must be stopped'
  /** Existing tables that the migration changes; their size decides how long it takes. */
  tables: { name: string; rows: number; bytes: number }[]
}

const CHANGED =
  /\b(?:alter table(?: if exists)?|drop table(?: if exists)?|update|delete from|on)\s+(\w+)/gi

/** The migrations that `migrate` would apply, in order. Changes nothing. */
export async function migrationPlan(sql: Sql, folder?: string): Promise<PlannedMigration[]> {
  const { pending } = await compare(sql, folder)
  const plan: PlannedMigration[] = []
  for (const { name, text, isInTransaction, isCompatible } of pending) {
    const names = [...text.matchAll(CHANGED)].map(([, table = '']) => table.toLowerCase())
    plan.push({
      migration: name,
      purpose: purposeOf(text),
      runs: isInTransaction ? 'in a transaction' : 'outside a transaction',
      older_version: isCompatible ? 'keeps running' : 'must be stopped',
      tables: await sizesOf(sql, [...new Set(names)]),
    })
  }
  return plan
}

/**
 * Rows as PostgreSQL estimates them: counting would read the tables. The rows of a partitioned table are
 * in its partitions.
 */
const sizesOf = (sql: Sql, names: string[]) => sql<{ name: string; rows: number; bytes: number }[]>`
  select named.relname as name, sum(greatest(part.reltuples, 0))::bigint as rows,
    sum(pg_total_relation_size(part.oid))::bigint as bytes
  from pg_class named
  cross join lateral (
    select named.oid union select relid from pg_partition_tree(named.oid)) tree(oid)
  join pg_class part on part.oid = tree.oid and part.relkind = 'r'
  where named.relkind in ('r', 'p') and named.relnamespace = 'public'::regnamespace
    and named.relname = any(${names}::text[])
  group by named.relname order by named.relname`
