import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { parseRedisServers, type RedisServers } from '../lib/redis-servers.ts'

export type RedisClient = Redis | Cluster

/** A client of the servers of a REDIS_URL, which the configuration has checked. */
export function redisClient(url: string, options: RedisOptions): RedisClient {
  const servers = parseRedisServers(url) as RedisServers
  if (servers.kind === 'one') return new Redis(servers.url, options)
  const { nodes, username, password, isEncrypted } = servers
  const login = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(isEncrypted ? { tls: {} } : {}),
  }
  if (servers.kind === 'sentinel') {
    return new Redis({
      ...options,
      ...login,
      sentinels: nodes,
      name: servers.primary,
      db: servers.database,
      enableTLSForSentinelMode: isEncrypted,
      ...(options.retryStrategy ? { sentinelRetryStrategy: options.retryStrategy } : {}),
    })
  }
  const { lazyConnect = false, enableOfflineQueue = true, retryStrategy, ...others } = options
  return new Cluster(nodes, {
    lazyConnect,
    enableOfflineQueue,
    ...(retryStrategy ? { clusterRetryStrategy: (times) => retryStrategy(times) ?? null } : {}),
    redisOptions: { ...others, ...login },
  })
}
