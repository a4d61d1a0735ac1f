import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { MODES } from './embedding/embedder.ts'

/** The parts of a message that may be indexed. */
export const FIELDS = ['subject', 'from', 'to', 'cc', 'body', 'attachments'] as const
const PROVIDERS = [
  'lexical',
  'sentence_transformers',
  'huggingface',
  'ollama',
  'openai',
  'azure_openai',
] as const
const MAX_RESULTS = 100

export const DomainParams = Type.Object({ domain: Type.String() })
export const OrganizationParams = Type.Object({ organization_id: Type.String() })
export const CollectionParams = Type.Object({ collection_id: Type.String() })

const Mode = OneOf(MODES, {
  description:
    'The second ranking method: embeddings of an endpoint, a local model, or similarity of words',
})

export const Search = Body({
  query: Type.String({ minLength: 1, maxLength: 1000, pattern: '\\S' }),
  domain: Type.Optional(Type.String({ description: 'Only of this domain' })),
  organization_id: Type.Optional(
    Type.String({
      description: 'Required of platform callers; a tenant always searches its own',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: '\\S',
      description: 'Required of platform callers; stored in the audit log',
    }),
  ),
  collection_id: Type.Optional(Type.String({ description: 'Only of this collection' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS, default: 10 })),
  min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0 })),
  sender: Type.Optional(
    Type.String({ minLength: 1, maxLength: 320, description: 'Part of the sender, in any case' }),
  ),
  folder: Type.Optional(Type.String({ minLength: 1, description: 'Only mail in this folder' })),
  date_from: Type.Optional(Type.String({ description: 'ISO date or datetime, inclusive' })),
  date_to: Type.Optional(Type.String({ description: 'ISO date or datetime, inclusive' })),
  has_attachment: Type.Optional(Type.Boolean()),
})

export const SearchAnswer = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        email_id: Type.String({ description: 'Of the document, mail or not' }),
        collection_id: Type.String(),
        source: OneOf(['mail', 'api']),
        mailbox: Nullable(Type.String()),
        folder: Nullable(Type.String()),
        message_id: Nullable(Type.String()),
        document_id: Nullable(Type.String({ description: 'The id it was added with' })),
        subject: Nullable(Type.String()),
        from: Nullable(Type.String()),
        to: Nullable(Type.String()),
        date: Nullable(Timestamp),
        has_attachment: Type.Boolean(),
        snippet: Type.String({ description: 'HTML: escaped text, what was found in <mark>' }),
        score: Type.Number({ description: '0 to 1; relative to the other results' }),
      }),
    ),
    total: Type.Integer({ description: 'Number of results that were ranked and reach min_score' }),
    query: Type.String(),
    mode: Type.Union([Mode, Type.Literal('full_text')], {
      description: 'The ranking method: full_text alone, or combined with the method named here',
    }),
  },
  { title: 'RagSearch' },
)

export const NewSettings = Body({
  enabled_fields: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 20,
    description: `Parts of a message that are indexed: ${FIELDS.join(', ')}`,
  }),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  chunk_size: Type.Optional(
    Type.Integer({ minimum: 200, maximum: 8000, default: 1000, description: 'Characters' }),
  ),
  chunk_overlap: Type.Optional(Type.Integer({ minimum: 0, default: 200 })),
  embedding_provider: Type.Optional(
    OneOf(PROVIDERS, {
      description:
        'lexical compares words and their parts; sentence_transformers needs a model of the installation, the others its endpoint',
    }),
  ),
  embedding_model: Type.Optional(
    Type.String({ description: 'Must be the one that the installation has for the provider' }),
  ),
  privacy_mode: Type.Optional(
    Type.Boolean({ default: true, description: 'No text leaves the network of the installation' }),
  ),
  auto_index: Type.Optional(Type.Boolean({ default: false })),
  index_schedule: Type.Optional(
    Type.String({ default: '0 * * * *', maxLength: 100, description: 'As cron has it, in UTC' }),
  ),
  max_documents: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_000_000_000, default: 1_000_000 }),
  ),
  mail_domains: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Domains whose mail may be indexed; absent: as before',
    }),
  ),
})

const { mail_domains: _, ...newSettings } = NewSettings.properties
export const NewDomainSettings = Body({
  ...newSettings,
  index_mail: Type.Optional(
    Type.Boolean({ description: 'The mail of this domain may be indexed' }),
  ),
})

const settings = {
  organization_id: Type.String(),
  enabled: Type.Boolean(),
  enabled_fields: Type.Array(OneOf(FIELDS)),
  chunk_size: Type.Integer(),
  chunk_overlap: Type.Integer(),
  embedding_provider: OneOf(PROVIDERS),
  embedding_model: Type.String(),
  mode: Mode,
  privacy_mode: Type.Boolean(),
  auto_index: Type.Boolean(),
  index_schedule: Type.String(),
  next_scheduled_at: Nullable(Timestamp),
  max_documents: Type.Integer(),
  mail_domains: Type.Array(Type.String()),
  updated_at: Timestamp,
}
export const Settings = Type.Object(settings, { title: 'RagConfiguration' })
export const DomainSettings = Type.Object(
  { domain: Type.String(), index_mail: Type.Boolean(), ...settings },
  { title: 'RagDomainConfiguration' },
)

export const Collection = Type.Object(
  {
    collection_id: Type.String({ description: 'rag_<organization>_<domain>_<name>' }),
    domain: Type.String(),
    name: Type.String(),
    description: Nullable(Type.String()),
    embedding_model: Type.String(),
    document_count: Type.Integer(),
    created_at: Timestamp,
  },
  { title: 'RagCollection' },
)
export const Collections = Type.Object({
  collections: Type.Array(Collection),
  total: Type.Integer(),
})
export const NewCollection = Body({
  name: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]*$' }),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  embedding_model: Type.Optional(Type.String({ maxLength: 200 })),
})
export const CollectionStats = Type.Object({
  domain: Type.String(),
  collections: Type.Integer(),
  total_documents: Type.Integer(),
  total_vectors: Type.Integer(),
  storage_bytes: Type.Integer({ description: 'Of the text and its vectors' }),
})

export const NewDocuments = Body({
  documents: Type.Array(
    Type.Object(
      {
        content: Type.String({ minLength: 1, maxLength: 500_000, pattern: '\\S' }),
        metadata: Type.Optional(
          Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'subject, from, to and date are shown in results and can be filtered by',
            },
          ),
        ),
        id: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 255,
            description: 'A document with the same id in the collection is replaced',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: 100 },
  ),
  domain: Type.Optional(Type.String({ description: 'Must be that of the collection' })),
  organization_id: Type.Optional(
    Type.String({ description: 'Not needed: the collection has one' }),
  ),
})
export const DocumentsIndexed = Type.Object({
  documents_indexed: Type.Integer(),
  chunks_created: Type.Integer(),
  point_ids: Type.Array(Type.String(), { description: 'Their email_id in results, in order' }),
  collection_id: Type.String(),
  embedding_model: Type.String(),
})

export const DocumentsQuery = Type.Object(PageQuery)
export const Documents = Type.Object({
  documents: Type.Array(
    Type.Object({
      id: Type.String(),
      collection_id: Type.String(),
      domain: Type.String(),
      source: OneOf(['mail', 'api']),
      document_id: Nullable(Type.String()),
      mailbox: Nullable(Type.String()),
      folder: Nullable(Type.String()),
      subject: Nullable(Type.String()),
      from: Nullable(Type.String()),
      date: Nullable(Timestamp),
      size_bytes: Type.Integer(),
      chunk_count: Type.Integer(),
      indexed_at: Timestamp,
    }),
  ),
  total: Type.Integer(),
  page: Type.Integer(),
  per_page: Type.Integer(),
})

export const OrganizationStats = Type.Object({
  organization_id: Type.String(),
  collections: Type.Integer(),
  documents: Type.Integer(),
  vectors: Type.Integer(),
  last_indexed_at: Nullable(Timestamp),
})

export const IndexStatus = Type.Object({
  domain: Type.String(),
  status: OneOf(['never_indexed', 'pending', 'running', 'complete', 'failed'], {
    description: 'Of the last job',
  }),
  index_mail: Type.Boolean(),
  total_emails: Type.Integer({ description: 'In the mailboxes of the domain, as last counted' }),
  indexed_emails: Type.Integer(),
  last_indexed_at: Nullable(Timestamp),
  next_scheduled_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
})

export const Trigger = Body({
  domain: Type.String({ minLength: 1 }),
  full_reindex: Type.Optional(
    Type.Boolean({ description: 'All of it again, not only what is new' }),
  ),
})
export const Accepted = Type.Object({
  status: Type.Literal('accepted'),
  domain: Type.String(),
  message: Type.String(),
  job_id: Type.String(),
})
export const Reindex = Body({})
export const ReindexAccepted = Type.Object({
  status: Type.Literal('accepted'),
  organization_id: Type.String(),
  message: Type.String(),
  job_ids: Type.Array(Type.String()),
})

export const Health = Type.Object({
  status: Type.Literal('healthy'),
  qdrant: Type.Literal('not_used', { description: 'Vectors are in PostgreSQL' }),
  embedding_provider: Mode,
  embedding_model: Type.String(),
  collections: Type.Integer(),
  total_documents: Type.Integer(),
})
