import { InsufficientRole } from '../../access/access.errors.ts'
import { atLeast, type Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { invalidField, ServiceUnavailable, Unprocessable } from '../../errors.ts'
import { overdueDeletions } from '../../hosting/archive-figures.repository.ts'
import { record } from '../../hosting/compliance-trail.repository.ts'
import { lockOrganization } from '../../hosting/held-mailboxes.repository.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { readRecipient } from '../../lib/age.ts'
import { parseIso, parseUpperBound } from '../../lib/dates.ts'
import { ulid } from '../../lib/ulid.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './archive.errors.ts'
import { ArchiveDeleted, ArchiveRestored } from './archive.events.ts'
import * as organizations from './archive.repository.ts'
import { archiveKeys } from './sealing/keys.ts'
import { Damaged } from './sealing/sealed-message.ts'
import * as found from './search/search.repository.ts'
import { StorageAway } from './storage/object-storage.ts'
import type { Storages } from './storage/storage.ts'
import * as archive from './store/archive.repository.ts'
import { Gone, readArchive } from './store/read-archive.ts'
import * as spools from './store/spools.repository.ts'
import * as checks from './tasks/checks.repository.ts'
import * as jobs from './tasks/jobs.repository.ts'

const MIN_REASON = 10
/** The act of a route that changes something or returns a message. */
const CHANGE = 'opened'

/** The organization that a platform caller names, and why. */
export interface Whose {
  organization_id?: string
  reason?: string
}

interface Search extends Whose, Omit<found.SearchFilter, 'from' | 'to'> {
  start_date?: string
  end_date?: string
}

interface SettingsChange {
  enabled?: boolean
  recipient?: string | null
  reason: string
}

interface JobRequest {
  kind: 'import' | 'rekey'
  email?: string
  reason: string
}

export type ArchiveService = ReturnType<typeof archiveService>

export function archiveService(core: Core, storages: Storages) {
  const { change, db, events, log, now } = core
  const keys = archiveKeys(core)
  const reader = readArchive(core, storages)

  /**
   * Mail of a tenant is no business of operators, except of owners with a reason on record. A tenant always
   * reads its own archive.
   */
  async function organizationOf(caller: Caller, whose: Whose, act: string): Promise<string> {
    const { organization_id, reason = '' } = whose
    if (caller.scope !== 'platform') {
      const { organization } = caller.scope
      const isForeign = organization_id !== undefined && organization_id !== organization
      if (isForeign && act === CHANGE) throw new OrganizationNotFound()
      return organization
    }
    if (organization_id === undefined) throw new Unprocessable('organization_id is required')
    if (reason.trim().length < MIN_REASON) {
      throw new Unprocessable(`reason must have ${MIN_REASON} characters or more`)
    }
    if (caller.kind === 'operator' && !atLeast(caller.role, 'owner')) throw new InsufficientRole()
    if (!(await organizations.organizationExists(db, organization_id))) {
      throw new OrganizationNotFound()
    }
    await db.transaction().execute((tx) => {
      const details = { reason }
      return record(tx, caller, { action: `archive.${act}`, organization_id, details }, now())
    })
    return organization_id
  }

  const storedOf = async (organizationId: string, id: string) => {
    const row = await archive.findStored(db, organizationId, id)
    if (!row) throw new errors.ArchivedMessageNotFound()
    return row
  }

  async function read(row: archive.Stored): Promise<Buffer> {
    try {
      return await reader.read(row)
    } catch (error) {
      if (error instanceof Gone) throw new errors.ArchivedMessageNotFound()
      if (error instanceof StorageAway) {
        log.warn({ err: error }, 'archive storage away')
        throw new ServiceUnavailable('Archive storage unavailable')
      }
      if (!(error instanceof Damaged)) throw error
      const { id: archive_id, storage_key } = row
      log.error({ err: error, archive_id, storage_key, alert: true }, 'archived message damaged')
      throw new errors.ArchiveCorrupt()
    }
  }

  const settingsOf = async (organizationId: string) => ({
    organization_id: organizationId,
    available: storages.current !== undefined,
    ...(await organizations.summaryOf(db, organizationId)),
  })

  return {
    async search(caller: Caller, query: Search, page: Page) {
      const organizationId = await organizationOf(caller, query, 'searched')
      const { start_date, end_date, ...filter } = query
      const from = start_date === undefined ? undefined : parseIso(start_date)
      const to = end_date === undefined ? undefined : parseUpperBound(end_date)
      if (start_date !== undefined && !from)
        throw new Unprocessable('start_date must be an ISO date')
      if (end_date !== undefined && !to) throw new Unprocessable('end_date must be an ISO date')
      const { items, total } = await found.search(db, organizationId, { ...filter, from, to }, page)
      return paginated(items, total, page)
    },

    async get(caller: Caller, id: string, whose: Whose) {
      const organizationId = await organizationOf(caller, whose, 'viewed')
      const message = await found.find(db, organizationId, id)
      if (!message) throw new errors.ArchivedMessageNotFound()
      return message
    },

    /** Returns the message after it was compared with its hash, and its restore is on record. */
    async restore(caller: Caller, id: string, reason: string, whose: Whose): Promise<Buffer> {
      const organization_id = await organizationOf(caller, { ...whose, reason }, CHANGE)
      const row = await storedOf(organization_id, id)
      const message = await read(row)
      await change(caller, async (tx) => {
        const { message_id, storage_key } = row
        const details = { archive_id: id, message_id, reason }
        await record(tx, caller, { action: 'archive.restored', organization_id, details }, now())
        const data = { archive_id: id, message_id, storage_key }
        await events.emit(tx, ArchiveRestored, { org_id: organization_id }, data)
      })
      return message
    },

    async delete(caller: Caller, id: string, reason: string, whose: Whose) {
      const organization_id = await organizationOf(caller, { ...whose, reason }, CHANGE)
      return change(caller, async (tx) => {
        await lockOrganization(tx, organization_id)
        const removed = await removeUnlessHeld(tx, organization_id, id)
        const { message_id, storage_key } = removed
        const details = { archive_id: id, message_id, reason }
        await record(tx, caller, { action: 'archive.deleted', organization_id, details }, now())
        const data = { archive_id: id, message_id, storage_key }
        await events.emit(tx, ArchiveDeleted, { org_id: organization_id }, data)
        return { archive_id: id }
      })
    },

    settings: async (caller: Caller, whose: Whose) =>
      settingsOf(await organizationOf(caller, whose, 'viewed')),

    async changeSettings(caller: Caller, sent: SettingsChange, whose: Whose) {
      const { enabled, recipient, reason } = sent
      const organization_id = await organizationOf(caller, { ...whose, reason }, CHANGE)
      const own = recipient == null ? recipient : readRecipient(recipient)?.text
      if (recipient != null && own === undefined) {
        throw invalidField('recipient', 'Must be an age recipient that starts with age1')
      }
      await change(caller, async (tx) => {
        await lockOrganization(tx, organization_id)
        if (enabled !== undefined)
          await organizations.setEnabled(tx, organization_id, enabled, now())
        if (own !== undefined) await keys.replace(tx, organization_id, own)
        const details = { enabled, recipient: own, reason }
        await record(tx, caller, { action: 'archive.configured', organization_id, details }, now())
      })
      return settingsOf(organization_id)
    },

    async listJobs(caller: Caller, whose: Whose, page: Page) {
      const organizationId = await organizationOf(caller, whose, 'viewed')
      const { items, total } = await jobs.list(db, organizationId, page)
      return paginated(items, total, page)
    },

    async job(caller: Caller, id: string, whose: Whose) {
      const job = await jobs.find(db, await organizationOf(caller, whose, 'viewed'), id)
      if (!job) throw new errors.JobNotFound()
      return job
    },

    async startJob(caller: Caller, { kind, email, reason }: JobRequest, whose: Whose) {
      const organization_id = await organizationOf(caller, { ...whose, reason }, CHANGE)
      if (kind === 'import' && email === undefined) {
        throw invalidField('email', 'Required for an import')
      }
      const address = kind === 'import' ? (email ?? '').toLowerCase() : null
      if (address !== null && !(await organizations.findMailbox(db, organization_id, address))) {
        throw new errors.MailboxNotFound()
      }
      if (storages.current === undefined) throw new errors.ArchiveOff()
      return change(caller, async (tx) => {
        await lockOrganization(tx, organization_id)
        if (await jobs.findOpen(tx, organization_id, kind, address)) throw new errors.JobRunning()
        const details = { kind, email: address, reason }
        await record(tx, caller, { action: 'archive.job', organization_id, details }, now())
        return insertJob(tx, caller, organization_id, kind, address)
      })
    },

    /** For operators: seals every archive for the current keys, with a new one of the platform if asked. */
    async sealAll(caller: Caller, isNewKey: boolean, reason: string) {
      if (storages.current === undefined) throw new errors.ArchiveOff()
      if (isNewKey && core.config.ARCHIVE_AGE_IDENTITY_FILE !== undefined) {
        throw new Unprocessable('The key of the platform is in ARCHIVE_AGE_IDENTITY_FILE')
      }
      return change(caller, async (tx) => {
        if (isNewKey) await keys.replace(tx, null, null)
        const details = { new_platform_key: isNewKey, reason }
        await record(tx, caller, { action: 'archive.rekeyed', details }, now())
        const ids = await organizations.organizationsToSeal(tx)
        for (const id of ids) await insertJob(tx, caller, id, 'rekey', null)
        return { jobs: ids.length }
      })
    },

    status: async () => ({
      storage_type: storages.current ?? null,
      spools: await spools.list(db),
      deletions: await organizations.countDeletions(db),
      overdue_deletions: await overdueDeletions(db, now()),
      last_check: (await checks.latest(db)) ?? null,
    }),
  }

  function insertJob(
    tx: Parameters<typeof jobs.insert>[0],
    caller: Caller,
    organization_id: string,
    kind: JobRequest['kind'],
    email: string | null,
  ) {
    const created_by = caller.email ?? caller.id
    const created_at = now().toISOString()
    return jobs.insert(tx, { id: ulid(), organization_id, kind, email, created_by, created_at })
  }

  async function removeUnlessHeld(
    tx: Parameters<typeof archive.remove>[0],
    organizationId: string,
    id: string,
  ) {
    if (!(await archive.findStored(tx, organizationId, id))) {
      throw new errors.ArchivedMessageNotFound()
    }
    if (await archive.isHeld(tx, id, now())) throw new errors.ArchivedMessageHeld()
    const removed = await archive.remove(tx, organizationId, id)
    if (!removed) throw new errors.ArchivedMessageNotFound()
    return removed
  }
}
