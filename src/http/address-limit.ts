import type { FastifyInstance } from 'fastify'
import type { Caller } from '../access/caller.ts'
import { ApiError } from '../errors.ts'
import { throttleKey } from '../lib/ip.ts'
import { lruMap } from '../lib/lru-map.ts'
import { MINUTE_MS } from '../lib/time.ts'

const MAX_NETWORKS = 10_000

class TooManyRequests extends ApiError {
  constructor(seconds: number) {
    super(429, `Too many requests from this address. Try again in ${seconds} seconds.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
}

/**
 * Limits the requests of an IPv4 address or IPv6 /64 to the routes of this scope, for routes that need no
 * credential. Counted per process, before the body is read.
 */
export function limitAddresses(app: FastifyInstance, now: () => Date, perMinute: number): void {
  const counts = lruMap<string, { minute: number; requests: number }>(MAX_NETWORKS)
  app.addHook('onRequest', (request, _reply, next) => {
    const time = now().getTime()
    const minute = Math.floor(time / MINUTE_MS)
    const { caller } = request as { caller?: Caller }
    const network = throttleKey(caller?.ip ?? request.ip)
    const before = counts.get(network)
    const requests = before?.minute === minute ? before.requests + 1 : 1
    counts.set(network, { minute, requests })
    if (requests <= perMinute) return next()
    next(new TooManyRequests(Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - time) / 1000))))
  })
}
