import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { AdminAccessRequired, InsufficientRole } from '../../../access/access.errors.ts'
import { atLeast, type Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { parseIso, parseUpperBound } from '../../../lib/dates.ts'
import type { CollectionService } from '../collections/collections.service.ts'
import { asUnavailable } from '../documents/documents.service.ts'
import { embedderFor } from '../embedding/embedder.ts'
import { SearchDisabled } from '../rag.errors.ts'
import { SearchComplete } from '../rag.events.ts'
import type { Search } from '../rag.schemas.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Filter } from './filter.ts'
import { type Ranking, ranker } from './ranker.ts'
import { commitLater, MARK_BEGIN, MARK_END, show } from './results.repository.ts'

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'> {
  settings: SettingsService
  collections: Pick<CollectionService, 'find'>
}

type Sent = Static<typeof Search>

export type SearchService = ReturnType<typeof searchService>

export function searchService(needs: Needs) {
  const { collections, db, events, settings } = needs
  const rank = ranker(db)

  /**
   * The platform reads mail of a tenant only with a reason, which its audit row keeps: an operator
   * with the role admin, or a key with admin access.
   */
  async function organizationOf(caller: Caller, sent: Sent): Promise<string> {
    if (caller.scope !== 'platform') return caller.scope.organization
    if (caller.kind === 'operator' && !atLeast(caller.role, 'admin')) throw new InsufficientRole()
    if (caller.kind === 'key' && !caller.adminAccess) throw new AdminAccessRequired()
    const { organization_id, reason } = sent
    if (organization_id === undefined) {
      throw invalidField('organization_id', 'Name the organization whose mail is searched')
    }
    if (reason === undefined) {
      throw invalidField('reason', 'Give a reason for reading the mail of a tenant')
    }
    await settings.findOrganization(caller, organization_id)
    return organization_id
  }

  async function filterOf(caller: Caller, sent: Sent): Promise<Filter> {
    const organization_id = await organizationOf(caller, sent)
    const { sender, folder, has_attachment, collection_id: id } = sent
    const domain = sent.domain && (await settings.findDomain(caller, sent.domain))
    const collection = id === undefined ? undefined : await collections.find(caller, id)
    const from = sent.date_from === undefined ? undefined : parseIso(sent.date_from)
    const to = sent.date_to === undefined ? undefined : parseUpperBound(sent.date_to)
    if (sent.date_from !== undefined && !from) throw wrongDate('date_from')
    if (sent.date_to !== undefined && !to) throw wrongDate('date_to')
    return {
      organization_id,
      ...(domain && { domain_id: domain.id }),
      ...(collection && { collection_id: collection.id }),
      ...(sender !== undefined && { sender }),
      ...(folder !== undefined && { folder }),
      ...(has_attachment !== undefined && { has_attachment }),
      ...(from && { date_from: from.toISOString() }),
      ...(to && { date_to: to.toISOString() }),
    }
  }

  async function rankingFor(filter: Filter, query: string): Promise<Ranking & { hides: boolean }> {
    const { organization_id } = filter
    const wishes = await settings.settingsOf(organization_id)
    if (!wishes.enabled) throw new SearchDisabled()
    const embedder = embedderFor(needs, { ...wishes, organization_id })
    const ranking = await rank(filter, query, embedder).catch(asUnavailable)
    return { ...ranking, hides: wishes.privacy_mode }
  }

  const emitSearch = (
    caller: Caller,
    { organization_id: org_id }: Filter,
    data: { query: string; results_count: number; processing_time_ms: number },
  ) =>
    db.transaction().execute(async (tx) => {
      await commitLater(tx)
      await events.emit(
        tx,
        SearchComplete,
        { org_id },
        { ...data, user: caller.email ?? caller.id },
      )
    })

  return {
    async search(caller: Caller, sent: Sent) {
      const begun = performance.now()
      const { query, limit = 10, min_score: least = 0 } = sent
      const filter = await filterOf(caller, sent)
      const { fused, highlighted, mode, hides } = await rankingFor(filter, query)
      const matches = fused.filter(({ score }) => score >= least)
      const page = matches.slice(0, limit)
      const chunkIds = page.map(({ chunk_id }) => chunk_id)
      const rows =
        page.length === 0 ? [] : await show(db, filter.organization_id, chunkIds, highlighted)
      const byChunk = new Map(rows.map((row) => [row.chunk_id, row]))
      const results = page.flatMap(({ chunk_id, score }) => {
        const row = byChunk.get(chunk_id)
        if (!row) return []
        const { headline, chunk_id: _, ...document } = row
        return [{ ...document, snippet: snippetOf(headline), score: Math.round(score * 1e4) / 1e4 }]
      })
      await emitSearch(caller, filter, {
        query: hides ? createHash('sha256').update(query).digest('hex') : query,
        results_count: results.length,
        processing_time_ms: Math.round((performance.now() - begun) * 10) / 10,
      })
      return { results, total: matches.length, query, mode }
    },
  }
}

const wrongDate = (field: string) => invalidField(field, 'Must be an ISO date or datetime')

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes the text before the marks are replaced, so that `mark` is the only possible tag. */
const snippetOf = (headline: string): string =>
  headline
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(MARK_BEGIN, '<mark>')
    .replaceAll(MARK_END, '</mark>')
