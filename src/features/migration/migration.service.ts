import type { Static } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed, organizationOf } from '../../database/scope.ts'
import { InvalidRequest } from '../../errors.ts'
import type { Page } from '../../http/paging.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import { type Credentials, sealCredentials } from './credentials.ts'
import * as errors from './migration.errors.ts'
import { MigrationCancelled } from './migration.events.ts'
import * as jobs from './migration.repository.ts'
import { continued, exportOf, importOf, type Wanted, withShared } from './migration.rules.ts'
import type * as shapes from './migration.schemas.ts'
import { announce } from './notices/announce.ts'
import { shownJob } from './shown-job.ts'

const RECENT_ERRORS = 10

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'outbound' | 'vault'>

export type MigrationService = ReturnType<typeof migrationService>

export function migrationService(core: Needs) {
  const { change, config, db, now, outbound, vault } = core
  const answer = () => ({ success: true as const, timestamp: now().toISOString() })
  const shown = (row: jobs.JobRow) => shownJob(row, config)

  /** What this host would refuse to call is refused now, as far as it can be told without asking DNS. */
  function checkTargets(
    { direction, remote, webhook_url }: Wanted,
    place: (string | number)[],
  ): void {
    const refused = (field: string, msg: string | undefined) => {
      if (msg === undefined) return
      throw new InvalidRequest([{ loc: [...place, field], msg, type: 'value_error' }])
    }
    const field = direction === 'import' ? 'source_host' : 'target_host'
    refused(field, outbound.problemOfHost(remote.host))
    if (webhook_url !== null) refused('webhook_url', outbound.problemOf(webhook_url))
  }

  async function stored(tx: Tx, caller: Caller, wanted: readonly Wanted[]) {
    const rows: jobs.NewJob[] = []
    for (const one of wanted) {
      const email = toMailAddress(one.email)?.address ?? ''
      const mailbox = await jobs.findMailbox(tx, caller.scope, email)
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

  async function start(caller: Caller, wanted: Wanted) {
    checkTargets(wanted, ['body'])
    const [job] = await change(caller, (tx) => stored(tx, caller, [wanted]))
    const { direction } = wanted
    const message = `${direction === 'import' ? 'Import' : 'Export'} job started`
    return { ...answer(), job_id: job?.id ?? '', direction, status: 'pending' as const, message }
  }

  async function startMany(caller: Caller, direction: jobs.Direction, wanted: Wanted[]) {
    wanted.forEach((one, index) => {
      checkTargets(one, ['body', 'accounts', index])
    })
    const rows = await change(caller, (tx) => stored(tx, caller, wanted))
    return {
      ...answer(),
      direction,
      total_jobs: rows.length,
      jobs: rows.map((row) => ({
        job_id: row.id,
        target_email: direction === 'import' ? row.mailbox : row.remote_username,
      })),
      message: `${rows.length} ${direction} jobs started`,
    }
  }

  async function hold(tx: Tx, caller: Caller, id: string) {
    const job = await jobs.hold(tx, caller.scope, id)
    if (!job) throw new errors.JobNotFound()
    return job
  }

  /** A job that goes on where another ended, between the same two mailboxes. */
  async function follow(
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
        credentials: sealCredentials(vault, credentials),
        created_at: now().toISOString(),
      },
    ])
    return {
      ...answer(),
      job_id: id,
      parent_job_id: job.id,
      direction: job.direction,
      status: 'pending' as const,
      is_delta: kind.is_delta ?? false,
      is_retry: kind.is_retry ?? false,
    }
  }

  return {
    startImport: (caller: Caller, sent: Static<typeof shapes.ImportRequest>) =>
      start(caller, importOf(sent, ['body'])),
    startExport: (caller: Caller, sent: Static<typeof shapes.ExportRequest>) =>
      start(caller, exportOf(sent, ['body'])),
    startImports: (caller: Caller, { accounts, ...all }: Static<typeof shapes.BulkImport>) =>
      startMany(
        caller,
        'import',
        accounts.map((one, index) => importOf(withShared(one, all), ['body', 'accounts', index])),
      ),
    startExports: (caller: Caller, { accounts, ...all }: Static<typeof shapes.BulkExport>) =>
      startMany(
        caller,
        'export',
        accounts.map((one, index) => exportOf(withShared(one, all), ['body', 'accounts', index])),
      ),

    async list(
      caller: Caller,
      { organization_id, ...filter }: jobs.JobFilter & { organization_id?: string },
      page: Page,
    ) {
      const scope = narrowed(caller.scope, organization_id)
      const { items, total } = await jobs.list(db, scope, filter, page)
      return {
        ...answer(),
        total,
        page: page.page,
        per_page: page.perPage,
        jobs: items.map(shown),
      }
    },

    async get(caller: Caller, id: string) {
      const job = await jobs.find(db, caller.scope, id)
      if (!job) throw new errors.JobNotFound()
      return { ...answer(), job: shown(job) }
    },

    async errors(caller: Caller, id: string, page: Page) {
      const job = await jobs.find(db, caller.scope, id)
      if (!job) throw new errors.JobNotFound()
      const { items, total } = await jobs.errorsOf(db, job.id, page)
      return {
        ...answer(),
        job_id: job.id,
        total,
        page: page.page,
        per_page: page.perPage,
        errors: items,
      }
    },

    /** The daemon that runs it is told by the database, and stops within seconds. */
    cancel: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        const job = await hold(tx, caller, id)
        if (job.status !== 'pending' && job.status !== 'running') {
          throw new errors.JobHasEnded(job.status)
        }
        const at = now()
        await jobs.cancel(tx, job.id, at)
        await announce(core, tx, job, MigrationCancelled, {
          job_id: job.id,
          cancelled_at: at.toISOString(),
          migrated_messages: job.migrated_messages,
          failed_messages: job.failed_messages,
        })
        return {
          ...answer(),
          job_id: job.id,
          status: 'cancelled' as const,
          message: 'Migration job cancelled; migrated messages are kept',
        }
      }),

    retryFailed: (caller: Caller, id: string, sent: Static<typeof shapes.Continuation>) =>
      change(caller, async (tx) => {
        const job = await hold(tx, caller, id)
        if (job.status !== 'completed' && job.status !== 'failed') {
          throw new errors.JobNotEnded(job.status)
        }
        if ((await jobs.failedCount(tx, job.id)) === 0) throw new errors.NothingFailed()
        const child = await follow(tx, job, continued(job, sent), { is_retry: true })
        const taken = await jobs.takeFailed(tx, job.id, child.job_id)
        return { ...child, message: `Retry job started for ${taken} failed messages` }
      }),

    delta: (caller: Caller, id: string, sent: Static<typeof shapes.Continuation>) =>
      change(caller, async (tx) => {
        const job = await hold(tx, caller, id)
        if (job.status !== 'completed') throw new errors.JobNotCompleted(job.status)
        const child = await follow(tx, job, continued(job, sent), { is_delta: true })
        return { ...child, message: 'Delta job started' }
      }),

    async summary(caller: Caller, organizationId: string | undefined) {
      const scope = narrowed(caller.scope, organizationId)
      return {
        ...answer(),
        org_id: organizationOf(scope),
        summary: await jobs.summary(db, scope),
        recent_errors: await jobs.recentErrors(db, scope, RECENT_ERRORS),
      }
    },
  }
}
