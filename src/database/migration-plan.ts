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

/** Rows as PostgreSQL estimates them: counting would read the tables. */
const sizesOf = (sql: Sql, names: string[]) => sql<{ name: string; rows: number; bytes: number }[]>`
  select relname as name, greatest(reltuples, 0)::bigint as rows,
    pg_total_relation_size(oid) as bytes
  from pg_class
  where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
    and relname = any(${names}::text[])
  order by relname`
