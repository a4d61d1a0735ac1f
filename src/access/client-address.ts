import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Networks, normalizeIp } from '../lib/ip.ts'
import { peerOf } from './forwarded-peer.ts'

/**
 * Returns the IP address of the socket or, behind a trusted proxy, the right-most entry of
 * X-Forwarded-For that is no trusted proxy. A client can forge the entries left of it.
 */
export function clientAddress(request: IncomingMessage, trusted: Networks): string {
  const peer = normalizeIp(peerOf(request))
  if (trusted.isEmpty || !trusted.contains(peer)) return peer
  const header = request.headers['x-forwarded-for']
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  let client = peer
  for (const hop of hops.reverse().map((entry) => normalizeIp(entry.trim()))) {
    if (isIP(hop) === 0) break
    client = hop
    if (!trusted.contains(hop)) break
  }
  return client
}
