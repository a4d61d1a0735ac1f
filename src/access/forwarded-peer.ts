import type { IncomingMessage, Server } from 'node:http'
import { sameSecret } from '../lib/tokens.ts'

/** Names the peer of a request that a worker of the same server forwards, after a shared secret. */
export const PEER_HEADER = 'x-mailplane-peer'

const peers = new WeakMap<IncomingMessage, string>()

/** The IP address at the other end of the connection, also when a worker forwarded the request. */
export const peerOf = (request: IncomingMessage): string =>
  peers.get(request) ?? request.socket.remoteAddress ?? ''

/** Believes the header of workers, which know the secret; from all others it is ignored. */
export function acceptForwarded(server: Server, secret: string): void {
  server.prependListener('request', (request: IncomingMessage) => {
    const [sent = '', peer = ''] = String(request.headers[PEER_HEADER] ?? '').split(' ')
    delete request.headers[PEER_HEADER]
    if (sameSecret(sent, secret)) peers.set(request, peer)
  })
}
