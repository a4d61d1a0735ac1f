import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ServiceUnavailable } from '../../../errors.ts'
import type { Page } from '../../../http/paging.ts'
import { parseIso } from '../../../lib/dates.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { CollectionService } from '../collections/collections.service.ts'
import { embedderFor } from '../embedding/embedder.ts'
import { EmbeddingsUnavailable } from '../embedding/endpoint.ts'
import { CollectionNotFound, SearchDisabled, TooManyDocuments, UNAVAILABLE } from '../rag.errors.ts'
import type { NewDocuments } from '../rag.schemas.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { plainText } from '../text/chunks.ts'
import * as documents from './documents.repository.ts'
import { prepare } from './prepare.ts'
import { countOf, type NewDocument, store } from './store.repository.ts'

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'events' | 'log'> {
  settings: SettingsService
  collections: Pick<CollectionService, 'find'>
}

type Sent = Static<typeof NewDocuments>

export type DocumentService = ReturnType<typeof documentService>

export function documentService(needs: Needs) {
  const { change, collections, db, settings } = needs
  return {
    async add(caller: Caller, collectionId: string, { documents: sent, domain }: Sent) {
      const collection = await collections.find(caller, collectionId)
      if (domain !== undefined && toDomainName(domain) !== collection.domain) {
        throw new CollectionNotFound()
      }
      const { organization_id } = collection
      const wishes = await settings.settingsOf(organization_id)
      if (!wishes.enabled) throw new SearchDisabled()
      // Of several documents with one id, the last one is stored.
      const unique = sent.filter(
        ({ id }, at) => id === undefined || sent.findLastIndex((one) => one.id === id) === at,
      )
      const embedder = embedderFor(needs, wishes)
      const drafts = unique.map(({ content, metadata = {} }) => draftOf(content, metadata))
      const prepared = await prepare(embedder, wishes, drafts).catch(asUnavailable)
      const rows: NewDocument[] = prepared.map((one, at) => ({
        ...(drafts[at] as (typeof drafts)[number]),
        ...one,
        id: ulid(),
        organization_id,
        domain_id: collection.domain_id,
        collection_id: collection.id,
        source: 'api',
        email_account_id: null,
        folder_id: null,
        uid: null,
        external_id: unique[at]?.id ?? null,
        message_id: null,
        has_attachment: false,
      }))
      await change(caller, async (tx) => {
        await store(tx, embedder.model, rows)
        if ((await countOf(tx, organization_id)) > wishes.max_documents) {
          throw new TooManyDocuments(wishes.max_documents)
        }
      })
      return {
        documents_indexed: rows.length,
        chunks_created: rows.reduce((sum, { chunks }) => sum + chunks.length, 0),
        point_ids: rows.map(({ id }) => id),
        collection_id: collection.id,
        embedding_model: embedder.model,
      }
    },

    async list(caller: Caller, organizationId: string, page: Page) {
      await settings.findOrganization(caller, organizationId)
      const rows = await documents.list(db, organizationId, page)
      return { ...rows, page: page.page, per_page: page.perPage }
    },

    async stats(caller: Caller, organizationId: string) {
      await settings.findOrganization(caller, organizationId)
      return { organization_id: organizationId, ...(await documents.statsOf(db, organizationId)) }
    },
  }
}

/** The searchable and shown fields of a document, from its metadata. */
export function draftOf(content: string, metadata: object) {
  const values = metadata as Record<string, unknown>
  const textOf = (...names: string[]) => {
    const first = names.map((name) => values[name]).find((value) => value !== undefined)
    const text = Array.isArray(first) ? first.join(', ') : first
    return typeof text === 'string' && text !== '' ? plainText(text).slice(0, 2000) : null
  }
  const date = textOf('date')
  const subject = textOf('subject', 'title')
  const sender = textOf('from', 'sender', 'author')
  const recipients = textOf('to', 'recipients')
  return {
    subject,
    searched_subject: subject ?? '',
    sender,
    recipients,
    people: [sender, recipients].filter(Boolean).join(' '),
    date: (date && parseIso(date)?.toISOString()) || null,
    body: content,
    content,
    size_bytes: Buffer.byteLength(content),
    metadata,
  }
}

/** Converts a failure of the embeddings endpoint to 503, so that the caller can retry. */
export function asUnavailable(error: unknown): never {
  throw error instanceof EmbeddingsUnavailable ? new ServiceUnavailable(UNAVAILABLE) : error
}
