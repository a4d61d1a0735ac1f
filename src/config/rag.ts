import * as env from './env.ts'

export const ragVariables = {
  RAG_EMBEDDINGS_URL: env.url('OpenAI-compatible endpoint up to /v1; unset: none'),
  RAG_EMBEDDINGS_KEY: env.text('Key of RAG_EMBEDDINGS_URL'),
  RAG_EMBEDDINGS_MODEL: env.text('Model at RAG_EMBEDDINGS_URL', 'text-embedding-3-small'),
  RAG_EMBEDDINGS_TIMEOUT: env.integer('Seconds per request', 15, { min: 1, max: 300 }),
  RAG_EMBEDDINGS_BATCH: env.integer('Texts per request', 64, { min: 1, max: 2048 }),
  RAG_EMBEDDINGS_CENTS_PER_MILLION: env.integer('Price of a million tokens in US cents', 0),
  RAG_MODEL_DIR: env.text('Folder of a local model, with word vectors in vectors.txt'),
  RAG_LEASE_SECONDS: env.integer('Seconds before an index job of a dead process is resumed', 30, {
    min: 1,
    max: 3600,
  }),
} as const
