import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export interface Folder {
  id: number
  name: string
  last_uid: number
}

/**
 * Returns the index state of a folder. It starts again if UIDVALIDITY has changed, which also deletes its
 * documents, and once for each job that indexes everything again.
 */
export async function open(
  tx: Tx,
  of: { organization_id: string; email_account_id: string },
  name: string,
  validity: number,
  beginAgainFor: string | null,
): Promise<Folder> {
  const { rows } = await sql<Folder & { uid_validity: number; begun_by: string | null }>`
    insert into rag_folders (organization_id, email_account_id, name, uid_validity, begun_by)
    values (${of.organization_id}, ${of.email_account_id}, ${name}, ${validity}, ${beginAgainFor})
    on conflict (email_account_id, name) do update set name = excluded.name
    returning id, name, last_uid, uid_validity, begun_by`.execute(tx)
  const row = rows[0] as (typeof rows)[number]
  const isRenumbered = row.uid_validity !== validity
  if (isRenumbered) await tx.deleteFrom('rag_documents').where('folder_id', '=', row.id).execute()
  if (!isRenumbered && (beginAgainFor === null || row.begun_by === beginAgainFor)) return row
  await tx
    .updateTable('rag_folders')
    .set({ uid_validity: validity, last_uid: 0, begun_by: beginAgainFor ?? row.begun_by })
    .where('id', '=', row.id)
    .execute()
  return { ...row, last_uid: 0 }
}

export const setLastUid = (tx: Tx, id: number, uid: number) =>
  tx.updateTable('rag_folders').set({ last_uid: uid }).where('id', '=', id).execute()

/** Removes documents of messages that are no longer in their folder; returns their number. */
export async function removeMissing(db: Db, folderId: number, uids: number[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from rag_documents where folder_id = ${folderId} and not exists (
      select from unnest(${uids}::bigint[]) as present (uid)
      where present.uid = rag_documents.uid)`.execute(db)
  return Number(numAffectedRows)
}

/** Removes folders that no longer exist, with their documents; returns the number of documents. */
export async function removeOthers(db: Db, accountId: string, names: string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from rag_documents using rag_folders
    where rag_folders.id = rag_documents.folder_id
      and rag_folders.email_account_id = ${accountId}
      and not rag_folders.name = any(${names}::text[])`.execute(db)
  await sql`
    delete from rag_folders where email_account_id = ${accountId}
      and not name = any(${names}::text[])`.execute(db)
  return Number(numAffectedRows)
}

/** Returns whether mail of the domain may be read. Locks the consent until the transaction ends. */
export async function holdConsent(tx: Tx, domainId: string): Promise<boolean> {
  const { rows } = await sql`
    select from rag_mail_domains where domain_id = ${domainId} for share`.execute(tx)
  return rows.length > 0
}

/** A page of the active mailboxes of a domain. */
export const mailboxesOf = (db: Db, domainId: string, after: string, limit: number) =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'email'])
    .where('domain_id', '=', domainId)
    .where('status', '=', 'active')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
