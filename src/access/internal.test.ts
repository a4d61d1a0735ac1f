import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { serviceCredential } from './internal.ts'

const TOKEN = 'what services have in common'
const request = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

it.each<[string, string, string | undefined, IncomingMessage, boolean]>([
  ['loopback to loopback', '127.0.0.1', undefined, request('127.0.0.1'), true],
  ['the same over IPv6', '::1', undefined, request('::ffff:127.0.0.1'), true],
  [
    'a proxy on this host',
    '127.0.0.1',
    undefined,
    request('127.0.0.1', { 'x-forwarded-for': '192.0.2.1' }),
    false,
  ],
  ['another kind of proxy', '127.0.0.1', undefined, request('::1', { via: '1.1 proxy' }), false],
  ['loopback, where others may come too', '0.0.0.0', undefined, request('127.0.0.1'), false],
  ['a stranger', '0.0.0.0', undefined, request('192.0.2.1'), false],
  ['a stranger with the token', '0.0.0.0', TOKEN, request('192.0.2.1', bearer(TOKEN)), true],
  ['a wrong token', '0.0.0.0', TOKEN, request('192.0.2.1', bearer('a guess')), false],
  ['no token', '127.0.0.1', TOKEN, request('127.0.0.1'), false],
  ['an empty token', '0.0.0.0', TOKEN, request('192.0.2.1', bearer('')), false],
])('%s', (_who, HOST, SVC_INTERNAL_TOKEN, from, expected) => {
  expect(serviceCredential({ HOST, SVC_INTERNAL_TOKEN })(from)).toBe(expected)
})
