import type { Core } from '../../../core.ts'
import { breather } from '../../../lib/breather.ts'
import { LEXICAL_MODEL, lexicalVector } from '../text/lexical-vector.ts'
import { isPrivateEndpoint, requestEmbeddings } from './endpoint.ts'
import { localModel, modelNameOf } from './model-directory.ts'

/** The ranking that a search uses besides full text. */
export const MODES = ['embeddings', 'local_model', 'lexical'] as const
export type Mode = (typeof MODES)[number]

export interface Embedder {
  model: string
  mode: Mode
  embed(texts: readonly string[]): Promise<Float32Array[]>
}

export type EmbeddingNeeds = Pick<Core, 'config' | 'db' | 'events' | 'log'>

interface Wishes {
  organization_id: string
  embedding_provider: string | null
  privacy_mode: boolean
}

/** Providers of this installation, which send no text to an endpoint. */
const LOCAL: readonly (string | null)[] = ['lexical', 'sentence_transformers']

/** The mode for an organization, from its settings and from the configuration. */
export function modeOf(config: Core['config'], wishes: Omit<Wishes, 'organization_id'>): Mode {
  const { embedding_provider: provider, privacy_mode: isPrivate } = wishes
  const url = config.RAG_EMBEDDINGS_URL
  const mayLeave = url !== undefined && (!isPrivate || isPrivateEndpoint(url))
  if (mayLeave && !LOCAL.includes(provider)) return 'embeddings'
  return config.RAG_MODEL_DIR === undefined || provider === 'lexical' ? 'lexical' : 'local_model'
}

export function modelOf(config: Core['config'], mode: Mode): string {
  if (mode === 'embeddings') return config.RAG_EMBEDDINGS_MODEL
  return mode === 'local_model' ? modelNameOf(config.RAG_MODEL_DIR ?? '') : LEXICAL_MODEL
}

/** Lets other work run between the texts of a long document. */
async function lexicalVectors(texts: readonly string[]): Promise<Float32Array[]> {
  const breathe = breather()
  const vectors: Float32Array[] = []
  for (const text of texts) {
    vectors.push(lexicalVector(text))
    await breathe()
  }
  return vectors
}

export function embedderFor(core: EmbeddingNeeds, wishes: Wishes): Embedder {
  const mode = modeOf(core.config, wishes)
  const model = modelOf(core.config, mode)
  switch (mode) {
    case 'embeddings':
      return {
        mode,
        model,
        embed: (texts) => requestEmbeddings(core, wishes.organization_id, texts),
      }
    case 'local_model':
      return { mode, model, embed: async (texts) => (await localModel(core.config))(texts) }
    case 'lexical':
      return { mode, model, embed: lexicalVectors }
  }
}
