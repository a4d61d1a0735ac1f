import { sql } from 'kysely'
import { bulkRows } from '../../../database/bulk.ts'
import type { Db, Tx } from '../../../database/database.ts'

/** NOTIFY channel; the payload is the id of an account. */
export const CHANNEL = 'mailplane_jmap'

export type Kind =
  | 'Mailbox'
  | 'Email'
  | 'Thread'
  | 'Identity'
  | 'EmailSubmission'
  | 'VacationResponse'

export type Action = 'created' | 'updated' | 'destroyed'

export interface Change {
  kind: Kind
  id: string
  action: Action
  countsOnly?: boolean
}

/** One process at a time changes the index of an account. */
export async function lockAccount(tx: Tx, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`jmap ${accountId}`}, 0))`.execute(tx)
}

/** Numbers changes and stores them, in the transaction that makes them and under `lockAccount`. */
export async function recordChanges(
  tx: Tx,
  accountId: string,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return
  const { state } = await tx
    .updateTable('jmap_accounts')
    .set({ state: sql`state + ${changes.length}` })
    .where('id', '=', accountId)
    .returning('state')
    .executeTakeFirstOrThrow()
  const first = state - changes.length + 1
  const rows = changes.map(({ kind, id, action, countsOnly = false }, index) => ({
    state: first + index,
    kind,
    object_id: id,
    action,
    counts_only: countsOnly,
  }))
  const columns = {
    state: 'bigint',
    kind: 'text',
    object_id: 'text',
    action: 'text',
    counts_only: 'boolean',
  } as const
  await sql`
    insert into jmap_changes (account_id, state, kind, object_id, action, counts_only)
    select ${accountId}, state, kind, object_id, action, counts_only
    from ${bulkRows(columns, rows)} as rows`.execute(tx)
  await sql`select pg_notify(${CHANNEL}, ${accountId})`.execute(tx)
}

/** Records changes that did not come from the mail server. */
export const changeAccount = <Result>(
  db: Db,
  accountId: string,
  work: (tx: Tx, record: (...changes: Change[]) => void) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (tx) => {
    await lockAccount(tx, accountId)
    const changes: Change[] = []
    const result = await work(tx, (...some) => changes.push(...some))
    await recordChanges(tx, accountId, changes)
    return result
  })

export async function stateOf(db: Db, accountId: string): Promise<number> {
  const { state } = await db
    .selectFrom('jmap_accounts')
    .select('state')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  return state
}

/** The changes after a state, oldest first; undefined when they are not known any more. */
export async function changesSince(db: Db, accountId: string, kind: Kind, since: number) {
  // One statement, so that no change comes between the state and the list.
  const rows = await db
    .selectFrom('jmap_accounts as a')
    .leftJoin('jmap_changes as c', (join) =>
      join.onRef('c.account_id', '=', 'a.id').on('c.kind', '=', kind).on('c.state', '>', since),
    )
    .select([
      'a.state as newest',
      'a.forgotten',
      'c.state',
      'c.object_id',
      'c.action',
      'c.counts_only',
    ])
    .where('a.id', '=', accountId)
    .orderBy('c.state')
    .execute()
  const account = rows[0]
  if (!account || since > account.newest || since < account.forgotten) return undefined
  const changes = rows.flatMap(({ state, object_id, action, counts_only }) =>
    state === null || object_id === null || action === null
      ? []
      : [{ state, object_id, action, counts_only }],
  )
  return { state: account.newest, changes }
}

/** The newest state of each kind after a state, for programs that wait for changes. */
export async function changedKinds(db: Db, accountId: string, since: number) {
  return db
    .selectFrom('jmap_changes')
    .select((eb) => ['kind', eb.fn.max('state').as('state')])
    .where('account_id', '=', accountId)
    .where('state', '>', since)
    .groupBy('kind')
    .execute()
}
