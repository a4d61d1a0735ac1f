import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { pastDays } from '../../../hosting/past-days.ts'
import { paginated } from '../../../http/paging.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import {
  ExportDamaged,
  ExportExpired,
  ExportNotFound,
  ExportNotReady,
} from '../compliance.errors.ts'
import { DataExportRequested } from '../compliance.events.ts'
import { knownPerson } from '../people.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import { partOf } from './export-parts.repository.ts'
import * as exports from './exports.repository.ts'
import type { ExportType } from './exports.schemas.ts'
import { isIntact, openSealed } from './sealed-archive.ts'

const STATUS_LIMIT = 10

type Needs = Pick<Core, 'change' | 'clickhouse' | 'db' | 'events' | 'now' | 'vault'>

export type ExportService = ReturnType<typeof exportService>

export const exportService = ({ change, clickhouse, db, events, now, vault }: Needs) => ({
  async request(
    caller: Caller,
    email: string,
    sent: { export_type?: ExportType; requested_by: string },
  ) {
    const person = await knownPerson(db, pastDays({ db, clickhouse }), userEmail(email))
    const { account_id, organization_id, email: user_email } = person
    const { export_type = 'full', requested_by } = sent
    const at = now()
    return change(caller, async (tx) => {
      const row = await exports.insert(tx, {
        id: ulid(),
        organization_id,
        account_id,
        user_email,
        export_type,
        requested_by,
        due_at: at.toISOString(),
        created_at: at.toISOString(),
      })
      const details = { export_id: row.id, export_type, requested_by }
      const action = 'data_export.requested'
      await record(tx, caller, { action, organization_id, user_email, details }, at)
      const about = { org_id: organization_id, domain: domainOf(user_email) }
      await events.emit(tx, DataExportRequested, about, { ...details, user_email })
      return withDownloadUrl(row)
    })
  },

  async status(email: string) {
    const { items, total } = await exports.listOf(db, userEmail(email), STATUS_LIMIT)
    return paginated(items.map(withDownloadUrl), total, {
      page: 1,
      perPage: STATUS_LIMIT,
      offset: 0,
    })
  },

  /** Records the download before it returns the stream of the archive. */
  async download(caller: Caller, email: string, id: string) {
    const user_email = userEmail(email)
    const row = await exports.find(db, user_email, id)
    if (!row) throw new ExportNotFound()
    const { file_name, file_key, file_nonce, file_tag, organization_id } = row
    const isExpired = row.expires_at !== null && new Date(row.expires_at) <= now()
    if (row.status === 'expired' || isExpired) throw new ExportExpired()
    if (row.status !== 'completed' || !file_name || !file_key || !file_nonce || !file_tag) {
      throw new ExportNotReady(row.status)
    }
    // The archive of an earlier version is a file of another machine, or was removed by hand.
    if ((await partOf(db, file_name, 0)) === undefined) throw new ExportNotFound()
    const sealed = { file_name, file_key, file_nonce, file_tag }
    if (!(await isIntact({ db, vault }, sealed))) throw new ExportDamaged()
    await change(caller, (tx) => {
      const action = 'data_export.downloaded'
      const details = { export_id: id }
      return record(tx, caller, { action, organization_id, user_email, details }, now())
    })
    return {
      content: openSealed({ db, vault }, sealed),
      sizeBytes: row.file_size,
      fileName: `data-export-${id}.zip`,
    }
  },
})

const withDownloadUrl = (row: exports.ExportRow) => ({
  ...row,
  download_url:
    row.status === 'completed'
      ? `/api/v1/compliance/data-export/${encodeURIComponent(row.user_email)}/download/${row.id}`
      : null,
})
