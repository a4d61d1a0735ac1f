import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'
import { SearchDisabled } from '../rag.errors.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import * as jobs from './jobs.repository.ts'

interface Needs extends Pick<Core, 'change' | 'db'> {
  settings: SettingsService
}

export type IndexingService = ReturnType<typeof indexingService>

export const indexingService = ({ change, db, settings }: Needs) => ({
  async status(caller: Caller, name: string) {
    const { id, organization_id, domain } = await settings.findDomain(caller, name)
    const found = await jobs.statusOf(db, id)
    const { next_run_at } = await settings.settingsOf(organization_id)
    return {
      domain,
      ...found,
      status: found.status ?? ('never_indexed' as const),
      next_scheduled_at: found.index_mail ? next_run_at : null,
    }
  },

  async trigger(caller: Caller, name: string, isFull: boolean) {
    const { id, organization_id, domain } = await settings.findDomain(caller, name)
    if (!(await settings.settingsOf(organization_id)).enabled) throw new SearchDisabled()
    const job_id = await change(caller, (tx) =>
      jobs.insert(tx, { id: ulid(), organization_id, domain_id: id, full_reindex: isFull }),
    )
    const { index_mail } = await jobs.statusOf(db, id)
    const message = index_mail
      ? 'Indexing begins as soon as a worker is free'
      : 'Mail of this domain is not read: set index_mail in its configuration to allow it'
    return { status: 'accepted' as const, domain, message, job_id }
  },

  async reindex(caller: Caller, organizationId: string) {
    await settings.findOrganization(caller, organizationId)
    if (!(await settings.settingsOf(organizationId)).enabled) throw new SearchDisabled()
    const job_ids = await change(caller, async (tx) => {
      const ids: string[] = []
      for (const { id, organization_id } of await jobs.domainsOf(tx, organizationId)) {
        const job = { id: ulid(), organization_id, domain_id: id, full_reindex: true }
        ids.push(await jobs.insert(tx, job))
      }
      return ids
    })
    const message = `${job_ids.length} domains are indexed again as soon as a worker is free`
    return { status: 'accepted' as const, organization_id: organizationId, message, job_ids }
  },
})
