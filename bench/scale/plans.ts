import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { Case } from './requests.ts'

const TABLES = new Set([
  'organizations',
  'domains',
  'email_accounts',
  'aliases',
  'smtp_credentials',
  'shared_mailboxes',
])
// PostgreSQL writes the plan to its log a moment after the response.
const LOG_MS = 30

export interface SequentialScan {
  case: Case
  table: string
  query: string
  /** The reason for accepting the scan; undefined when it is not accepted. */
  reason: string | undefined
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  Plans?: PlanNode[]
}

interface Explained {
  'Query Text': string
  Plan: PlanNode
}

/**
 * Collects the plans that PostgreSQL uses for the statements of the server, on the connections of
 * the server, after enough runs to settle the choice between custom and generic plans.
 */
export async function sequentialScans(
  sql: Sql,
  postgresLog: string,
  cases: Case[],
  send: (request: Case) => Promise<void>,
): Promise<SequentialScan[]> {
  const logPlans = async (milliseconds: number) => {
    await sql.unsafe(`alter system set auto_explain.log_min_duration = ${milliseconds}`)
    await sql`select pg_reload_conf()`
    await sleep(10 * LOG_MS)
  }
  await logPlans(0)
  const scans: SequentialScan[] = []
  for (const request of cases) {
    const before = readFileSync(postgresLog, 'utf8').length
    await send(request)
    await sleep(LOG_MS)
    const plans = plansIn(readFileSync(postgresLog, 'utf8').slice(before))
    if (plans.length === 0) throw new Error(`${request.path}: no plan in the log of PostgreSQL`)
    for (const { 'Query Text': query, Plan } of plans) {
      for (const table of scanned(Plan)) {
        scans.push({ case: request, table, query, reason: reasonFor(request, table) })
      }
    }
  }
  await logPlans(-1)
  return scans
}

function reasonFor({ matchesAll }: Case, table: string): string | undefined {
  if (matchesAll) return 'the search matches every row'
  // Sums and counts over all tenants need every row; 1,000 rows are 40 blocks.
  return table === 'organizations' ? 'the table is small' : undefined
}

function plansIn(log: string): Explained[] {
  const entries = log.split(/^\S+ \S+ UTC .*LOG: {2}duration: .* plan:\n/m).slice(1)
  return entries.map((entry) => {
    // Every line of a log message except the first begins with a tab.
    const lines = entry.split('\n')
    const end = lines.findIndex((line) => !line.startsWith('\t'))
    return JSON.parse(lines.slice(0, end).join('\n')) as Explained
  })
}

function scanned(node: PlanNode): string[] {
  const table = node['Relation Name']
  const own = node['Node Type'] === 'Seq Scan' && table && TABLES.has(table) ? [table] : []
  return [...own, ...(node.Plans ?? []).flatMap(scanned)]
}
