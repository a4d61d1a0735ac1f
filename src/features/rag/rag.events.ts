import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'

const source = 'rag'

export const IndexingStarted = defineEvent('rag.indexing.started', {
  source,
  summary: 'Messages of a mailbox are being indexed',
  data: Type.Object({ mailbox: Type.String(), document_count: Type.Integer() }),
})

export const IndexingComplete = defineEvent('rag.indexing.complete', {
  source,
  summary: 'Messages of a mailbox were indexed',
  data: Type.Object({
    mailbox: Type.String(),
    documents_indexed: Type.Integer(),
    chunks_created: Type.Integer(),
    duration_seconds: Type.Number(),
  }),
})

export const SearchComplete = defineEvent('rag.search.complete', {
  source,
  summary: 'A search was answered; in privacy mode the query is a hash',
  data: Type.Object({
    query: Type.String(),
    results_count: Type.Integer(),
    user: Type.String(),
    processing_time_ms: Type.Number(),
  }),
})

export const AiTransaction = defineEvent('rag.ai.transaction', {
  source,
  summary: 'An embeddings endpoint was asked',
  data: Type.Object({
    operation: Type.String({ examples: ['embedding'] }),
    model: Type.String(),
    tokens_used: Type.Integer(),
    estimated_cost_usd: Type.Number(),
    status: OneOf(['completed', 'failed']),
    transaction_id: Type.String(),
  }),
})
