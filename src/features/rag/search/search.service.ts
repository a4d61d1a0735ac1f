import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import type { Caller } from '../../../access/caller.ts'
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
import { commitLater, show } from './results.repository.ts'
import { snippetOf } from './snippet.ts'

interface Needs extends Pick<Core, 'config' | 'db' | 'events' | 'log' | 'now'> {
  settings: SettingsService
  collections: Pick<CollectionService, 'find'>
}

type Sent = Static<typeof Search>

// What platform callers of older clients send when they mean nobody in particular.
const NOBODY = 'default'

export type SearchService = ReturnType<typeof searchService>

export function searchService(needs: Needs) {
  const { collections, db, events, settings } = needs
  const rank = ranker(db)

  async function filterOf(caller: Caller, sent: Sent): Promise<Filter> {
    const { sender, folder, has_attachment, collection_id: id } = sent
    const domain = sent.domain && (await settings.findDomain(caller, sent.domain))
    const collection = id === undefined ? undefined : await collections.find(caller, id)
    const from = sent.date_from === undefined ? undefined : parseIso(sent.date_from)
    const to = sent.date_to === undefined ? undefined : parseUpperBound(sent.date_to)
    if (sent.date_from !== undefined && !from) throw wrongDate('date_from')
    if (sent.date_to !== undefined && !to) throw wrongDate('date_to')
    const named =
      sent.organization_id === NOBODY || caller.scope !== 'platform'
        ? undefined
        : sent.organization_id
    if (named !== undefined) await settings.findOrganization(caller, named)
    return {
      organization_id:
        caller.scope === 'platform'
          ? (named ?? (domain || collection)?.organization_id ?? null)
          : caller.scope.organization,
      ...(domain && { domain_id: domain.id }),
      ...(collection && { collection_id: collection.id }),
      ...(sender !== undefined && { sender }),
      ...(folder !== undefined && { folder }),
      ...(has_attachment !== undefined && { has_attachment }),
      ...(from && { date_from: from.toISOString() }),
      ...(to && { date_to: to.toISOString() }),
    }
  }

  /** The models of organizations differ, so over all of them there is full text only. */
  async function rankingFor(filter: Filter, query: string): Promise<Ranking & { hides: boolean }> {
    const { organization_id } = filter
    if (organization_id === null) return { ...(await rank(filter, query)), hides: true }
    const wishes = await settings.settingsOf(organization_id)
    if (!wishes.enabled) throw new SearchDisabled()
    const embedder = embedderFor(needs, { ...wishes, organization_id })
    const ranking = await rank(filter, query, embedder).catch(asUnavailable)
    return { ...ranking, hides: wishes.privacy_mode }
  }

  const tell = (
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
      const good = fused.filter(({ score }) => score >= least)
      const shown = good.slice(0, limit)
      const chunkIds = shown.map(({ chunk_id }) => chunk_id)
      const rows =
        shown.length === 0 ? [] : await show(db, filter.organization_id, chunkIds, highlighted)
      const byChunk = new Map(rows.map((row) => [row.chunk_id, row]))
      const results = shown.flatMap(({ chunk_id, score }) => {
        const row = byChunk.get(chunk_id)
        if (!row) return []
        const { headline, chunk_id: _, ...document } = row
        return [{ ...document, snippet: snippetOf(headline), score: Math.round(score * 1e4) / 1e4 }]
      })
      await tell(caller, filter, {
        query: hides ? createHash('sha256').update(query).digest('hex') : query,
        results_count: results.length,
        processing_time_ms: Math.round((performance.now() - begun) * 10) / 10,
      })
      return { results, total: good.length, query, mode }
    },
  }
}

const wrongDate = (field: string) => invalidField(field, 'Must be an ISO date or datetime')
