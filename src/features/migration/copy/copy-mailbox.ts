import type { ImapFlow, ListResponse } from 'imapflow'
import {
  allowSilence,
  ConnectionFailed,
  ConnectionRefused,
  connectImap,
  judged,
  lateness,
  messageOf,
} from '../../../mail/imap/connect.ts'
import { Refused, WireBroken } from '../../../mail/imap/wire.ts'
import * as copied from './copied.repository.ts'
import { copyFolder, type Folder, stateOf } from './copy-folder.ts'
import { routesOf, type Wishes } from './folder-names.ts'
import { lanes } from './lanes.ts'
import { recordFailure } from './outcome.ts'
import * as progress from './progress.repository.ts'
import { type Run, Stopped } from './run.ts'

// Below this many messages one pair of connections is enough.
const MANY = 200

/**
 * Goes through all folders once and skips messages that were copied before. `firstMs` limits the first
 * answers of each server, up to the list of its folders.
 */
export async function copyMailbox(run: Run, firstMs?: number): Promise<void> {
  const source = await connectImap(run.source, run.signal, firstMs)
  let target: ImapFlow | undefined
  let moving: ReturnType<typeof lanes> | undefined
  try {
    const listed = (await ownFolders(source, run.source, true)).filter(isSelectable)
    const { db, config } = run.core
    const known = new Map(
      (await copied.foldersOf(db, run.job.pair_id)).map((row) => [row.source_path, row]),
    )
    const tree = { folders: listed, ...shapeOf(source) }
    const wishes = wishesOf(run)
    const isSettled = ({ path, ...rest }: ListResponse) => {
      const settled = known.get(path)?.settled
      return Boolean(settled) && settled === stateOf({ path, ...rest })
    }
    // If nothing has changed, the target server is not contacted.
    const mine = routesOf(tree, { ...tree, folders: [] }, wishes).map((route) => route.source)
    if (run.job.is_delta && mine.every(isSettled)) return

    target = await connectImap(run.target, run.signal, firstMs)
    const there = await ownFolders(target, run.target, false)
    const present = new Set(there.map(({ path }) => path))
    const retried = run.job.is_retry
      ? await progress.failures(db, 'retry_job_id', run.job.id)
      : undefined
    const routes = routesOf(tree, { folders: there, ...shapeOf(target) }, wishes)
      .filter(({ source: one }) => !run.job.is_delta || !isSettled(one))
      .filter(({ source: one }) => !retried || retried.has(one.path))
    const left = await estimate(run, routes, known, retried)
    moving = lanes(run, left > MANY ? config.MIGRATION_CONNECTIONS : 1)
    for (const route of routes) {
      const { path } = route.source
      run.currentFolder = path
      const only = retried?.get(path)
      const failed = (await progress.failures(db, 'job_id', run.job.id)).get(path)
      try {
        await copyFolder(run, route, {
          source,
          target,
          present,
          lanes: moving,
          failed,
          only: only?.has('') ? undefined : only,
        })
      } catch (error) {
        await handleFolderError(run, path, error, [source, target])
      }
    }
    await recordMissing(run, retried, routes)
  } catch (error) {
    if (run.signal.aborted) throw new Stopped()
    throw error
  } finally {
    moving?.close()
    source.close()
    target?.close()
  }
}

/** Records a folder that a server refuses, so that the others are copied. Rethrows other errors. */
async function handleFolderError(run: Run, path: string, error: unknown, clients: ImapFlow[]) {
  if (run.signal.aborted || error instanceof Stopped) throw new Stopped()
  if (error instanceof ConnectionFailed || error instanceof ConnectionRefused) throw error
  if (error instanceof WireBroken) throw new ConnectionFailed(error.message)
  const gone = clients.findIndex((client) => !client.usable)
  const closed = clients[gone]
  if (closed) throw judged(gone === 0 ? run.source : run.target, lateness(closed) ?? error)
  const { responseText, responseStatus } = error as {
    responseText?: string
    responseStatus?: string
  }
  if (responseStatus === undefined && !(error instanceof Refused)) throw error
  await recordFailure(run, path, {
    uid: undefined,
    type: 'folder_failed',
    detail: responseText ?? messageOf(error),
  })
}

/** Records folders of a retry that no longer exist. */
async function recordMissing(
  run: Run,
  retried: Map<string, Set<string>> | undefined,
  routes: readonly Folder[],
) {
  for (const path of retried?.keys() ?? []) {
    if (routes.some(({ source }) => source.path === path)) continue
    const detail = 'The folder is no longer there'
    await recordFailure(run, path, {
      uid: undefined,
      type: 'folder_gone',
      detail,
      retryable: false,
    })
  }
}

/** Stores and returns the estimated number of messages to copy. */
async function estimate(
  run: Run,
  routes: readonly Folder[],
  known: Map<string, { messages: number }>,
  retried: Map<string, Set<string>> | undefined,
): Promise<number> {
  let left = 0
  for (const { source } of routes) {
    const there = retried?.get(source.path)?.size ?? source.status?.messages ?? 0
    left += retried ? there : Math.max(0, there - (known.get(source.path)?.messages ?? 0))
  }
  const counts = await progress.add(run.core.db, run.lease, run.job.id, {})
  const done = (counts?.migrated_messages ?? 0) + (counts?.failed_messages ?? 0)
  await progress.add(run.core.db, run.lease, run.job.id, { total: done + left })
  return left
}

const STATE = { messages: true, uidNext: true, uidValidity: true, highestModseq: true } as const

/** Folders of the user, without those that other users share. */
async function ownFolders(
  client: ImapFlow,
  server: Run['source'],
  withState: boolean,
): Promise<ListResponse[]> {
  const all = await client.list(withState ? { statusQuery: STATE } : {})
  // imapflow returns a partial list if the connection breaks.
  if (!client.usable) throw judged(server, lateness(client) ?? new Error('the connection broke'))
  allowSilence(client)
  const { other, shared } = client.namespaces ?? {}
  const foreign = [...(other || []), ...(shared || [])]
    .map(({ prefix }) => prefix)
    .filter((prefix) => prefix !== '')
  return all.filter(({ path }) => !foreign.some((prefix) => path.startsWith(prefix)))
}

const isSelectable = ({ flags }: ListResponse) =>
  !flags.has('\\Noselect') && !flags.has('\\NonExistent')

const shapeOf = ({ namespace }: ImapFlow) => ({
  prefix: namespace?.prefix ?? '',
  delimiter: namespace?.delimiter ?? '/',
})

const wishesOf = ({ job }: Run): Wishes => ({
  mapping: job.folder_mapping as unknown as Wishes['mapping'],
  exclude: job.exclude_folders as unknown as Wishes['exclude'],
})
