import { sql } from 'kysely'
import type { Block } from './block.ts'

/** Messages that wait for somebody's decision. */
export const quarantine: Block<{ pending: number }> = async ({ db }, organization) => {
  let held = db.selectFrom('quarantine').where('status', '=', 'quarantined')
  if (organization !== null) held = held.where('organization_id', '=', organization)
  return held.select(sql<number>`count(*)`.as('pending')).executeTakeFirstOrThrow()
}

export const webhooks: Block<{ dead_letters: number }> = async ({ db }, organization) => {
  let open = db.selectFrom('webhook_dead_letters').where('status', '<>', 'resolved')
  if (organization !== null) open = open.where('organization_id', '=', organization)
  return open.select(sql<number>`count(*)`.as('dead_letters')).executeTakeFirstOrThrow()
}
