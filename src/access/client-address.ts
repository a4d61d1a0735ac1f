import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Networks, plainAddress } from '../lib/cidr.ts'

/**
 * The socket's address or, when a trusted proxy connects, the right-most entry of
 * X-Forwarded-For that no trusted proxy wrote. What stands left of it, anybody can invent.
 */
export function clientAddress(request: IncomingMessage, trusted: Networks): string {
  const peer = plainAddress(request.socket.remoteAddress ?? '')
  if (trusted.isEmpty || !trusted.contains(peer)) return peer
  const header = request.headers['x-forwarded-for']
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  let client = peer
  for (const hop of hops.reverse().map((entry) => plainAddress(entry.trim()))) {
    if (isIP(hop) === 0) break
    client = hop
    if (!trusted.contains(hop)) break
  }
  return client
}
