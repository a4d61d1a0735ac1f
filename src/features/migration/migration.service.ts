import type { Static } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed, organizationOf } from '../../database/scope.ts'
import { InvalidRequest } from '../../errors.ts'
import type { Page } from '../../http/paging.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import { type Credentials, openCredentials, sealCredentials } from './credentials.ts'
import * as errors from './migration.errors.ts'
import { MigrationCancelled } from './migration.events.ts'
import * as jobs from './migration.repository.ts'
import { continued, exportOf, importOf, type Wanted, withShared } from './migration.rules.ts'
import type * as shapes from './migration.schemas.ts'
import { announce } from './notices/announce.ts'
import { shownJob } from './shown-job.ts'

const RECENT_ERRORS = 10

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'mailServers' | 'now' | 'outbound' | 'vault'>

export type MigrationService = ReturnType<typeof migrationService>

export const migrationService = (core: Needs) => ({
  startImport: (caller: Caller, sent: Static<typeof shapes.ImportRequest>) =>
    start(core, caller, importOf(sent, ['body'])),
  startExport: (caller: Caller, sent: Static<typeof shapes.ExportRequest>) =>
    start(core, caller, exportOf(sent, ['body'])),
  startImports: (caller: Caller, { accounts, ...all }: Static<typeof shapes.BulkImport>) =>
    startMany(
      core,
      caller,
      'import',
      accounts.map((one, index) => importOf(withShared(one, all), ['body', 'accounts', index])),
    ),
  startExports: (caller: Caller, { accounts, ...all }: Static<typeof shapes.BulkExport>) =>
    startMany(
      core,
      caller,
      'export',
      accounts.map((one, index) => exportOf(withShared(one, all), ['body', 'accounts', index])),
    ),
  list: (caller: Caller, filter: ListFilter, page: Page) => list(core, caller, filter, page),
  get: (caller: Caller, id: string) => get(core, caller, id),
  errors: (caller: Caller, id: string, page: Page) => listErrors(core, caller, id, page),
  cancel: (caller: Caller, id: string) => cancel(core, caller, id),
  retryFailed: (caller: Caller, id: string, sent: Passwords) => retryFailed(core, caller, id, sent),
  delta: (caller: Caller, id: string, sent: Passwords) => startDelta(core, caller, id, sent),
  summary: (caller: Caller, organizationId: string | undefined) =>
    summary(core, caller, organizationId),
})

type ListFilter = jobs.JobFilter & { organization_id?: string }
type Passwords = Static<typeof shapes.Continuation>

const envelope = ({ now }: Needs) => ({ success: true as const, timestamp: now().toISOString() })

async function start(core: Needs, caller: Caller, wanted: Wanted) {
  checkTargets(core, wanted, ['body'])
  const [job] = await core.change(caller, (tx) => insertJobs(core, tx, caller, [wanted]))
  const { direction } = wanted
  const message = `${direction === 'import' ? 'Import' : 'Export'} job started`
  return {
    ...envelope(core),
    job_id: job?.id ?? '',
    direction,
    status: 'pending' as const,
    message,
  }
}

async function startMany(
  core: Needs,
  caller: Caller,
  direction: jobs.Direction,
  wanted: readonly Wanted[],
) {
  wanted.forEach((one, index) => {
    checkTargets(core, one, ['body', 'accounts', index])
  })
  const rows = await core.change(caller, (tx) => insertJobs(core, tx, caller, wanted))
  return {
    ...envelope(core),
    direction,
    total_jobs: rows.length,
    jobs: rows.map((row) => ({
      job_id: row.id,
      target_email: direction === 'import' ? row.mailbox : row.remote_username,
    })),
    message: `${rows.length} ${direction} jobs started`,
  }
}

/** Rejects hosts and URLs that this host refuses to contact, as far as known without a DNS lookup. */
function checkTargets(
  { outbound }: Needs,
  { direction, remote, webhook_url }: Wanted,
  place: (string | number)[],
): void {
  const reject = (field: string, msg: string | undefined) => {
    if (msg === undefined) return
    throw new InvalidRequest([{ loc: [...place, field], msg, type: 'value_error' }])
  }
  const field = direction === 'import' ? 'source_host' : 'target_host'
  reject(field, outbound.problemOfHost(remote.host))
  if (webhook_url !== null) reject('webhook_url', outbound.problemOf(webhook_url))
}

async function insertJobs(
  { now, vault }: Needs,
  tx: Tx,
  { scope }: Caller,
  wanted: readonly Wanted[],
) {
  const rows: jobs.NewJob[] = []
  for (const one of wanted) {
    const email = toMailAddress(one.email)?.address ?? ''
    const mailbox = await jobs.findMailbox(tx, scope, email)
    if (!mailbox) throw new errors.MailboxNotFound(one.email)
    const { remote, folder_mapping, exclude_folders, webhook_url, direction } = one
    const name = [direction, mailbox.email, remote.host, remote.port, remote.username].join(' ')
    rows.push({
      id: ulid(),
      organization_id: mailbox.organization_id,
      pair_id: await jobs.pairOf(tx, mailbox.organization_id, name),
      direction,
      mailbox: mailbox.email,
      remote_host: remote.host,
      remote_port: remote.port,
      remote_ssl: remote.ssl,
      remote_tls_verify: remote.verify,
      remote_username: remote.username,
      remote_auth: remote.auth,
      folder_mapping,
      exclude_folders,
      webhook_url,
      credentials: sealCredentials(vault, {
        mailbox: one.mailboxSecret,
        remote: one.remoteSecret,
      }),
      created_at: now().toISOString(),
    })
  }
  await jobs.insert(tx, rows)
  return rows
}

async function list(
  core: Needs,
  caller: Caller,
  { organization_id, ...filter }: ListFilter,
  page: Page,
) {
  const scope = narrowed(caller.scope, organization_id)
  const { items, total } = await jobs.list(core.db, scope, filter, page)
  return {
    ...envelope(core),
    total,
    page: page.page,
    per_page: page.perPage,
    jobs: items.map((row) => shownJob(row, core.mailServers.current())),
  }
}

async function get(core: Needs, { scope }: Caller, id: string) {
  const job = await jobs.find(core.db, scope, id)
  if (!job) throw new errors.JobNotFound()
  return { ...envelope(core), job: shownJob(job, core.mailServers.current()) }
}

async function listErrors(core: Needs, { scope }: Caller, id: string, page: Page) {
  const job = await jobs.find(core.db, scope, id)
  if (!job) throw new errors.JobNotFound()
  const { items, total } = await jobs.errorsOf(core.db, job.id, page)
  return {
    ...envelope(core),
    job_id: job.id,
    total,
    page: page.page,
    per_page: page.perPage,
    errors: items,
  }
}

async function lock(tx: Tx, { scope }: Caller, id: string) {
  const job = await jobs.hold(tx, scope, id)
  if (!job) throw new errors.JobNotFound()
  return job
}

/** The daemon that runs the job notices the change within seconds and stops. */
const cancel = (core: Needs, caller: Caller, id: string) =>
  core.change(caller, async (tx) => {
    const job = await lock(tx, caller, id)
    if (job.status !== 'pending' && job.status !== 'running') {
      throw new errors.JobHasEnded(job.status)
    }
    const at = core.now()
    await jobs.cancel(tx, job.id, at)
    await announce(core, tx, job, MigrationCancelled, {
      job_id: job.id,
      cancelled_at: at.toISOString(),
      migrated_messages: job.migrated_messages,
      failed_messages: job.failed_messages,
    })
    return {
      ...envelope(core),
      job_id: job.id,
      status: 'cancelled' as const,
      message: 'Migration job cancelled; migrated messages are kept',
    }
  })

const retryFailed = (core: Needs, caller: Caller, id: string, sent: Passwords) =>
  core.change(caller, async (tx) => {
    const job = await lock(tx, caller, id)
    if (job.status !== 'completed' && job.status !== 'failed') {
      throw new errors.JobNotEnded(job.status)
    }
    if ((await jobs.failedCount(tx, job.id)) === 0) throw new errors.NothingFailed()
    const child = await insertChild(core, tx, job, await credentialsFor(core, tx, job, sent), {
      is_retry: true,
    })
    const count = await jobs.takeFailed(tx, job.id, child.job_id)
    return { ...child, message: `Retry job started for ${count} failed messages` }
  })

const startDelta = (core: Needs, caller: Caller, id: string, sent: Passwords) =>
  core.change(caller, async (tx) => {
    const job = await lock(tx, caller, id)
    if (job.status !== 'completed') throw new errors.JobNotCompleted(job.status)
    const child = await insertChild(core, tx, job, await credentialsFor(core, tx, job, sent), {
      is_delta: true,
    })
    return { ...child, message: 'Delta job started' }
  })

async function credentialsFor(core: Needs, tx: Tx, job: jobs.JobRow, sent: Passwords) {
  const sealed = await jobs.keptCredentials(tx, job.id, core.now())
  const { IMAP_MASTER_USER, IMAP_MASTER_PASSWORD } = core.mailServers.current()
  return continued(job, sent, {
    kept: sealed === null ? undefined : openCredentials(core.vault, sealed),
    hasMasterLogin: Boolean(IMAP_MASTER_USER && IMAP_MASTER_PASSWORD),
  })
}

/** Inserts a job that continues another one between the same two mailboxes. */
async function insertChild(
  core: Needs,
  tx: Tx,
  job: jobs.JobRow,
  credentials: Credentials,
  kind: { is_delta?: boolean; is_retry?: boolean },
) {
  if (job.pair_id === null || job.organization_id === null) throw new errors.PairGone()
  const id = ulid()
  await jobs.insert(tx, [
    {
      id,
      organization_id: job.organization_id,
      pair_id: job.pair_id,
      parent_job_id: job.id,
      ...kind,
      direction: job.direction,
      mailbox: job.mailbox,
      remote_host: job.remote_host,
      remote_port: job.remote_port,
      remote_ssl: job.remote_ssl,
      remote_tls_verify: job.remote_tls_verify,
      remote_username: job.remote_username,
      remote_auth: job.remote_auth,
      folder_mapping: job.folder_mapping as object,
      exclude_folders: job.exclude_folders as object,
      webhook_url: job.webhook_url,
      credentials: sealCredentials(core.vault, credentials),
      created_at: core.now().toISOString(),
    },
  ])
  return {
    ...envelope(core),
    job_id: id,
    parent_job_id: job.id,
    direction: job.direction,
    status: 'pending' as const,
    is_delta: kind.is_delta ?? false,
    is_retry: kind.is_retry ?? false,
  }
}

async function summary(core: Needs, caller: Caller, organizationId: string | undefined) {
  const scope = narrowed(caller.scope, organizationId)
  return {
    ...envelope(core),
    org_id: organizationOf(scope),
    summary: await jobs.summary(core.db, scope),
    recent_errors: await jobs.recentErrors(core.db, scope, RECENT_ERRORS),
  }
}
