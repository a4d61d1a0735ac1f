import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { type Networks, parseNetworks, plainAddress } from '../lib/cidr.ts'
import { sameSecret } from '../lib/tokens.ts'
import { InternalTokenRequired, InvalidInternalToken } from './access.errors.ts'

const loopback = parseNetworks(['127.0.0.0/8', '::1']) as Networks
export const isLoopback = (host: string) =>
  host === 'localhost' || loopback.contains(plainAddress(host))

/** What a proxy or a browser adds, and a service on this machine does not. */
const FOREIGN = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'origin']

/**
 * Decides who may use the routes that services of the installation call on each other. They need
 * `SVC_INTERNAL_TOKEN`; only the process that runs everything may do without one, for callers on
 * the same machine. What came through a proxy or out of a browser is no such caller, although its
 * connection is.
 */
export function internalGate(
  config: Pick<Config, 'HOST' | 'SVC_INTERNAL_TOKEN'>,
  { besideApi }: { besideApi: boolean },
) {
  const token = config.SVC_INTERNAL_TOKEN
  const isPrivate = besideApi && isLoopback(config.HOST)
  return (request: IncomingMessage): void => {
    if (token === undefined) {
      if (isPrivate && isDirect(request)) return
      throw new InternalTokenRequired()
    }
    const { headers } = request
    const given = headers['x-internal-token'] ?? bearer(headers.authorization)
    if (given === undefined || given === '') throw new InternalTokenRequired()
    if (!sameSecret(String(given), token)) throw new InvalidInternalToken()
  }
}

const isDirect = ({ headers, socket }: IncomingMessage): boolean =>
  loopback.contains(plainAddress(socket.remoteAddress ?? '')) &&
  FOREIGN.every((name) => headers[name] === undefined) &&
  // A name that somebody else's DNS leads here is a web page's way in.
  isLoopback((headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))

export const bearer = (header: string | undefined): string | undefined =>
  header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() || undefined : undefined
