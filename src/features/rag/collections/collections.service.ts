import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { modelOf, modeOf } from '../embedding/embedder.ts'
import { CollectionExists, CollectionNotFound, InvalidConfiguration } from '../rag.errors.ts'
import type { NewCollection } from '../rag.schemas.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import * as collections from './collections.repository.ts'

interface Needs extends Pick<Core, 'change' | 'config' | 'db'> {
  settings: SettingsService
}

/** `<prefix>_<organization>_<type>`, where the type begins with the domain. */
export const collectionId = (organizationId: string, domain: string, name: string): string =>
  `rag_${organizationId}_${domain}_${name.toLowerCase().replace(/[^a-z0-9.-]+/g, '-')}`

export type CollectionService = ReturnType<typeof collectionService>

export const collectionService = ({ change, config, db, settings }: Needs) => ({
  async find({ scope }: Caller, id: string) {
    const collection = await collections.find(db, scope, id)
    if (!collection) throw new CollectionNotFound()
    return collection
  },

  async ofDomain(caller: Caller, name: string) {
    const { id } = await settings.findDomain(caller, name)
    const rows = await collections.ofDomain(db, id)
    return { collections: rows, total: rows.length }
  },

  async ofOrganization(caller: Caller, id: string) {
    await settings.findOrganization(caller, id)
    const rows = await collections.ofOrganization(db, id)
    return { collections: rows, total: rows.length }
  },

  async create(caller: Caller, domainName: string, sent: Static<typeof NewCollection>) {
    const { id: domain_id, organization_id, domain } = await settings.findDomain(caller, domainName)
    const wishes = await settings.settingsOf(organization_id)
    const model = modelOf(config, modeOf(config, wishes))
    if (sent.embedding_model !== undefined && sent.embedding_model !== model) {
      throw new InvalidConfiguration(
        `embedding_model "${sent.embedding_model}" is not available; this installation has ${model}`,
      )
    }
    const row = {
      id: collectionId(organization_id, domain, sent.name),
      organization_id,
      domain_id,
      name: sent.name,
      description: sent.description ?? null,
      embedding_model: model,
    }
    const { created_at } = await change(caller, async (tx) => {
      const inserted = await collections.insert(tx, row)
      if (!inserted) throw new CollectionExists(sent.name)
      return inserted
    })
    return { ...row, collection_id: row.id, domain, document_count: 0, created_at }
  },

  async stats(caller: Caller, domainName: string) {
    const { id, domain } = await settings.findDomain(caller, domainName)
    return { domain, ...(await collections.statsOf(db, id)) }
  },
})
