import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../jobs/lease.ts'
import { ImapAway } from '../../../mail/imap-mailbox.ts'
import { insert as insertCollection } from '../collections/collections.repository.ts'
import { collectionId } from '../collections/collections.service.ts'
import { embedderFor } from '../embedding/embedder.ts'
import { isMailAllowed } from '../settings/settings.repository.ts'
import { settingsOf } from '../settings/settings.service.ts'
import { mailboxesOf } from './folders.repository.ts'
import { indexContents } from './index-contents.ts'
import { indexMailbox } from './index-mailbox.ts'
import * as jobs from './jobs.repository.ts'
import { Abandoned, type Run } from './run.ts'

const MAILBOXES_AT_ONCE = 500
const MAX_ATTEMPTS = 8
const FIRST_WAIT_SECONDS = 10
const MAX_WAIT_SECONDS = 900

/**
 * Runs index jobs, those of an organization one after the other, each until it ends, loses its lease or
 * must be retried.
 */
export function indexChore(stopping: AbortSignal): Chore {
  return {
    name: 'rag',
    atOnce: 3,
    async round(core) {
      if (stopping.aborted) return false
      const lease = newLease(core.config.RAG_LEASE_SECONDS)
      const job = await jobs.claim(core.db, lease)
      if (!job) return false
      await underLease(core, 'rag_jobs', { id: job.id }, lease, (lost) =>
        runJob(core, job, lease, { stopping, lost }),
      )
      return true
    },
  }
}

async function runJob(
  core: Core,
  job: jobs.Job,
  lease: Lease,
  { stopping, lost }: { stopping: AbortSignal; lost: AbortSignal },
) {
  const { db, log } = core
  const signal = AbortSignal.any([stopping, lost])
  try {
    const failed = await index(await runOf(core, job, lease, signal))
    if (failed === undefined) await jobs.end(db, job.id, lease, null)
    else await retryLater(failed)
  } catch (error) {
    if (lost.aborted || error instanceof LeaseLost) return
    if (error instanceof Abandoned) await jobs.end(db, job.id, lease, error.message)
    else if (stopping.aborted) await jobs.giveBack(db, job.id, lease, 0, 'the process was stopped')
    else await retryLater(error as Error)
  }

  async function retryLater(error: Error): Promise<void> {
    log.warn({ err: error, job: job.id, attempts: job.attempts }, 'indexing of a domain failed')
    if (job.attempts >= MAX_ATTEMPTS) return void (await jobs.end(db, job.id, lease, error.message))
    const wait = Math.min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (job.attempts - 1))
    await jobs.giveBack(db, job.id, lease, wait, error.message)
  }
}

async function runOf(core: Core, job: jobs.Job, lease: Lease, signal: AbortSignal): Promise<Run> {
  const { db } = core
  const { id, domain: name } = await db
    .selectFrom('domains')
    .select(['id', 'domain'])
    .where('id', '=', job.domain_id)
    .executeTakeFirstOrThrow()
  const settings = await settingsOf(db, job.organization_id, core.now())
  const embedder = embedderFor(core, settings)
  const domain = { id, name, collection_id: collectionId(job.organization_id, name, 'mail') }
  return { core, job, lease, domain, settings, embedder, signal }
}

/** Indexes all mailboxes, even if one cannot be read; returns the first failure. */
async function index(run: Run): Promise<Error | undefined> {
  const { core, domain, embedder, job, settings } = run
  if (!settings.enabled) return undefined
  if (job.full_reindex) await indexContents(run)
  if (!(await isMailAllowed(core.db, domain.id))) return undefined
  await core.db.transaction().execute((tx) =>
    insertCollection(tx, {
      id: domain.collection_id,
      organization_id: job.organization_id,
      domain_id: domain.id,
      name: 'mail',
      description: `Mail of ${domain.name}`,
      embedding_model: embedder.model,
    }),
  )
  let failure: Error | undefined
  for (let after = ''; ; ) {
    const mailboxes = await mailboxesOf(core.db, domain.id, after, MAILBOXES_AT_ONCE)
    if (mailboxes.length === 0) return failure
    for (const mailbox of mailboxes) {
      after = mailbox.id
      run.signal.throwIfAborted()
      try {
        await indexMailbox(run, mailbox)
      } catch (error) {
        if (!(error instanceof ImapAway) || run.signal.aborted) throw error
        failure ??= new Error(`${mailbox.email}: ${error.message}`, { cause: error.cause })
      }
    }
  }
}
