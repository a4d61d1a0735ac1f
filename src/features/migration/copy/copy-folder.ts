import type { ImapFlow, ListResponse } from 'imapflow'
import { encodePath } from 'imapflow/lib/tools.js'
import * as copied from './copied.repository.ts'
import type { Route } from './folder-names.ts'
import type { Lanes } from './lanes.ts'
import type { Run } from './run.ts'
import { scan } from './scan.ts'
import { unaccounted } from './unaccounted.ts'

export type Folder = Route<ListResponse>

interface Place {
  source: ImapFlow
  target: ImapFlow
  /** Folders that exist at the target. */
  present: Set<string>
  lanes: Lanes
  /** The source UIDs of a retry; undefined for all messages. */
  only?: ReadonlySet<string> | undefined
  /** The source UIDs that failed in this job. */
  failed?: ReadonlySet<string> | undefined
}

/** The state of a source folder. While it is unchanged, so is the folder. */
export const stateOf = ({ status }: ListResponse): string | undefined =>
  status?.highestModseq
    ? `${status.uidValidity} ${status.uidNext} ${status.messages} ${status.highestModseq}`
    : undefined

/** Copies the messages of one folder that are missing at the target. */
export async function copyFolder(run: Run, { source: listed, targetPath }: Folder, place: Place) {
  const { source, target } = place
  const open = await source.mailboxOpen(listed.path, { readOnly: true })
  await ensureFolder(target, targetPath, place.present, listed.subscribed)
  const { folder, isOld } = await accountOf(run, target, {
    path: listed.path,
    validity: Number(open.uidValidity),
    targetPath,
  })
  const names = {
    sourceName: encodePath(source, listed.path),
    targetName: encodePath(target, targetPath),
  }
  const loose = isOld
    ? await unaccounted(run, source, target, {
        pairId: run.job.pair_id,
        targetPath,
        floor: folder.target_floor,
        ...names,
      })
    : undefined
  try {
    const all = open.exists === 0 ? [] : await source.search({ all: true }, { uid: true })
    if (!all) throw new Error('the source server did not list the messages of the folder')
    const { only, failed } = place
    const uids = all.filter((uid) => (!only || only.has(String(uid))) && !failed?.has(String(uid)))
    uids.sort((a, b) => a - b)
    const chunks = scan(run, { source, target, folder, uids, unaccounted: loose })
    await place.lanes.copy({ ...folder, ...names }, chunks)
  } finally {
    loose?.close()
  }
  // Every copy up to here is recorded, so the next run starts looking from this UID.
  const { uidNext = folder.target_floor } = await statusOf(target, targetPath)
  const settled = place.only || place.failed?.size ? null : (stateOf(listed) ?? null)
  await copied.settle(run.core.db, folder.id, uidNext, settled)
  return folder
}

async function statusOf(client: ImapFlow, path: string) {
  const status = await client.status(path, { uidValidity: true, uidNext: true })
  if (!status) throw new Error(`the server returned no status for the folder ${path}`)
  return status
}

async function ensureFolder(
  target: ImapFlow,
  path: string,
  present: Set<string>,
  subscribe: boolean,
): Promise<void> {
  if (present.has(path)) return
  await target.mailboxCreate(path)
  if (subscribe) await target.mailboxSubscribe(path).catch(() => {})
  present.add(path)
}

/** The record of a folder. It is reset if a UIDVALIDITY or the target path has changed. */
async function accountOf(
  run: Run,
  target: ImapFlow,
  { path, validity, targetPath }: { path: string; validity: number; targetPath: string },
) {
  const { db } = run.core
  const status = await statusOf(target, targetPath)
  const targetValidity = Number(status.uidValidity ?? 0)
  const uidNext = Number(status.uidNext ?? 1)
  const known = await copied.findFolder(db, run.job.pair_id, path)
  const isOld =
    known !== undefined &&
    known.source_validity === validity &&
    known.target_validity === targetValidity &&
    known.target_path === targetPath
  if (isOld) {
    if (!run.job.is_delta && !run.job.is_retry) await restore(run, target, known)
    if (known.job_id === run.job.id) return { folder: known, isOld }
    return { folder: await copied.takeOver(db, known.id, run.job.id, uidNext), isOld }
  }
  const folder = await copied.beginFolder(db, {
    pair_id: run.job.pair_id,
    source_path: path,
    target_path: targetPath,
    source_validity: validity,
    target_validity: targetValidity,
    // After a reset, any message at the target may be one of our copies.
    target_floor: known ? 1 : uidNext,
    job_id: run.job.id,
    job_floor: uidNext,
  })
  return { folder, isOld: known !== undefined }
}

/** A new job copies messages again that were deleted at the target since the last one; a delta does not. */
async function restore(run: Run, target: ImapFlow, folder: copied.FolderRow): Promise<void> {
  if (run.job.migrated_messages > 0 || run.migrated > 0) return
  await target.mailboxOpen(folder.target_path, { readOnly: true })
  const present = await target.search({ all: true }, { uid: true })
  // A failed search is not an empty folder: treating it as empty would copy everything again.
  if (!present) throw new Error('the target server did not list the messages of the folder')
  await copied.forgetMissing(run.core.db, folder.id, present)
}
