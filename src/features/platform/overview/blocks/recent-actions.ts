import type { BlockNeeds } from './block.ts'

const SHOWN = 10

export const recentActions = async ({ db }: BlockNeeds) =>
  db
    .selectFrom('operator_audit')
    .select(['id', 'operator_email', 'action', 'target_type', 'target_id', 'result', 'created_at'])
    .orderBy('id', 'desc')
    .limit(SHOWN)
    .execute()
