import type { Tx } from '../../../database/database.ts'
import type { Level, Told } from '../alert-level.ts'

export interface Entity {
  entity_type: 'mailbox' | 'domain'
  identifier: string
}

const keyOf = ({ entity_type, identifier }: Entity) => `${entity_type} ${identifier}`

export async function find(tx: Tx, entities: readonly Entity[]) {
  const rows = await tx
    .selectFrom('storage_alerts')
    .select(['entity_type', 'identifier', 'told', 'warning_at', 'critical_at'])
    .where(
      'identifier',
      'in',
      entities.map(({ identifier }) => identifier),
    )
    .execute()
  const known = new Map<string, Told>(rows.map((row) => [keyOf(row), row]))
  return (entity: Entity) => known.get(keyOf(entity))
}

export const save = (
  tx: Tx,
  entity: Entity & { organization_id: string },
  told: { told: Level; warning_at: string | null; critical_at: string | null },
  now: Date,
) => {
  const { told: level, warning_at, critical_at } = told
  const fields = { told: level, warning_at, critical_at, updated_at: now.toISOString() }
  return tx
    .insertInto('storage_alerts')
    .values({ ...entity, ...fields })
    .onConflict((conflict) => conflict.columns(['entity_type', 'identifier']).doUpdateSet(fields))
    .execute()
}
