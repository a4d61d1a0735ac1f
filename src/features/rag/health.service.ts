import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { organizationOf } from '../../database/scope.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { totals } from './documents/documents.repository.ts'
import { modelOf, modeOf } from './embedding/embedder.ts'
import { endpointAnswers } from './embedding/endpoint.ts'
import { UNAVAILABLE } from './rag.errors.ts'
import { settingsOf } from './settings/settings.service.ts'

export type HealthService = ReturnType<typeof healthService>

export const healthService = ({ config, db, now }: Pick<Core, 'config' | 'db' | 'now'>) => ({
  async health({ scope }: Caller) {
    const organization = organizationOf(scope)
    const wishes = await settingsOf(db, organization ?? '', now())
    const mode = modeOf(config, wishes)
    const { RAG_EMBEDDINGS_URL: url = '', RAG_EMBEDDINGS_KEY: key } = config
    if (mode === 'embeddings' && !(await endpointAnswers(url, key))) {
      throw new ServiceUnavailable(UNAVAILABLE)
    }
    return {
      status: 'healthy' as const,
      qdrant: 'not_used' as const,
      embedding_provider: mode,
      embedding_model: modelOf(config, mode),
      ...(await totals(db, organization)),
    }
  },
})
