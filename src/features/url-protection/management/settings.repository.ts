import type { Db, Tx } from '../../../database/database.ts'

export interface Settings {
  enabled: boolean
  updated_at: string | null
}

export async function find(db: Db, organizationId: string): Promise<Settings> {
  const row = await db
    .selectFrom('url_protection_settings')
    .select(['enabled', 'updated_at'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row ?? { enabled: false, updated_at: null }
}

export const save = (
  tx: Tx,
  organization_id: string,
  enabled: boolean,
  now: Date,
): Promise<Settings> => {
  const updated_at = now.toISOString()
  return tx
    .insertInto('url_protection_settings')
    .values({ organization_id, enabled, updated_at })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ enabled, updated_at }),
    )
    .returning(['enabled', 'updated_at'])
    .executeTakeFirstOrThrow()
}

/** Adds a key, which signs from now on, and retires the one before. */
export async function rotateKey(tx: Tx, now: Date) {
  const current = await tx
    .selectFrom('url_keys')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('url_keys')
    .set({ retired_at: now.toISOString() })
    .where('retired_at', 'is', null)
    .execute()
  return tx
    .insertInto('url_keys')
    .values({ id: current.id + 1, created_at: now.toISOString() })
    .returning(['id', 'created_at', 'retired_at'])
    .executeTakeFirstOrThrow()
}
