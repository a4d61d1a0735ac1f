import { parseRedisServers } from '../lib/redis-servers.ts'
import type { Variable } from './env.ts'

/** The URL of one Redis, of Sentinels with the name of a primary, or of the nodes of a Cluster. */
export const redisUrl = (description: string): Variable<string | undefined> => ({
  description,
  fallback: undefined,
  expected:
    'redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME or redis+cluster://HOST,HOST',
  parse: (value) => (parseRedisServers(value) ? value : undefined),
})
