import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { ReportType } from '../analytics.schemas.ts'

export interface NewReport {
  report_id: string
  organization_id: string
  domain: string
  report_type: ReportType
  period_days: number
  data: object
  generated_at: string
}

export const insert = (tx: Tx, report: NewReport) =>
  tx.insertInto('analytics_reports').values(report).execute()

export const find = (db: Db, scope: Scope, id: string, notBefore: Date) =>
  db
    .selectFrom('analytics_reports')
    .select(['report_id', 'domain', 'report_type', 'period_days', 'data', 'generated_at'])
    .where('report_id', '=', id)
    .where('generated_at', '>=', notBefore.toISOString())
    .where(inScope('analytics_reports', scope))
    .executeTakeFirst()

export const deleteBefore = (db: Db, time: Date) =>
  db.deleteFrom('analytics_reports').where('generated_at', '<', time.toISOString()).execute()
