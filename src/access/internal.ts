import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { parseNetworks, plainAddress } from '../lib/cidr.ts'
import { sameSecret } from '../lib/tokens.ts'

const LOOPBACK = parseNetworks(['127.0.0.0/8', '::1'])

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || Boolean(LOOPBACK?.contains(plainAddress(host)))

type Needs = Pick<Config, 'HOST' | 'SVC_INTERNAL_TOKEN'>

/**
 * Whether a request comes from another service of this installation: it carries the token they
 * share. Where there is none, only what was sent to loopback from loopback passes, and not through a
 * proxy: behind one, the whole world comes from there.
 */
export function serviceCredential({ HOST, SVC_INTERNAL_TOKEN }: Needs) {
  const isPrivate = isLoopback(HOST)
  return ({ headers, socket }: IncomingMessage): boolean => {
    if (SVC_INTERNAL_TOKEN !== undefined) {
      const [, sent = ''] = /^bearer +(.+)$/i.exec(headers.authorization ?? '') ?? []
      return sameSecret(sent, SVC_INTERNAL_TOKEN)
    }
    const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'via' in headers
    return isPrivate && !isForwarded && isLoopback(socket.remoteAddress ?? '')
  }
}
