import type { Core } from '../../../core.ts'
import { LEXICAL_MODEL, lexicalVector } from '../text/lexical-vector.ts'
import { askEndpoint, isPrivateEndpoint } from './endpoint.ts'
import { localModel, modelNameOf } from './model-directory.ts'

/** How a search finds its results, beside full text. */
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

const LOCAL = 'sentence_transformers'

/** With which of them an organization is served: what it chose, and what the installation has. */
export function modeOf(config: Core['config'], wishes: Omit<Wishes, 'organization_id'>): Mode {
  const { embedding_provider: provider, privacy_mode: isPrivate } = wishes
  const url = config.RAG_EMBEDDINGS_URL
  const mayLeave = url !== undefined && (!isPrivate || isPrivateEndpoint(url))
  if (mayLeave && provider !== LOCAL) return 'embeddings'
  return config.RAG_MODEL_DIR === undefined ? 'lexical' : 'local_model'
}

export function modelOf(config: Core['config'], mode: Mode): string {
  if (mode === 'embeddings') return config.RAG_EMBEDDINGS_MODEL
  return mode === 'local_model' ? modelNameOf(config.RAG_MODEL_DIR ?? '') : LEXICAL_MODEL
}

export function embedderFor(core: EmbeddingNeeds, wishes: Wishes): Embedder {
  const mode = modeOf(core.config, wishes)
  const model = modelOf(core.config, mode)
  switch (mode) {
    case 'embeddings':
      return { mode, model, embed: (texts) => askEndpoint(core, wishes.organization_id, texts) }
    case 'local_model':
      return { mode, model, embed: async (texts) => (await localModel(core.config))(texts) }
    case 'lexical':
      return { mode, model, embed: async (texts) => texts.map(lexicalVector) }
  }
}
