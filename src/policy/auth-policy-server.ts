import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { internalGate } from '../access/internal.ts'
import type { Core } from '../core.ts'
import { edgeSecrets } from '../edge/settings-of.ts'
import { sameSecret } from '../lib/tokens.ts'
import type { Attempt, AuthPolicy } from './auth-policy.ts'

const MAX_BODY = 65_536
const REQUEST_MS = 10_000

type Needs = Pick<Core, 'internalToken' | 'log' | 'vault'> & { policy: AuthPolicy }

/** Dovecot's auth policy over HTTP: `POST …?command=allow` and `?command=report`. */
export function authPolicyServer({ internalToken, log, policy, vault }: Needs) {
  const letIn = internalGate(internalToken)
  const edgeKey = edgeSecrets(vault).policyKey
  const mayAsk = (request: IncomingMessage) => {
    // The key that `edge render` writes into the configuration of Dovecot.
    if (sameSecret(String(request.headers['x-edge-key'] ?? ''), edgeKey)) return true
    try {
      letIn(request)
      return true
    } catch {
      return false
    }
  }

  async function answer(request: IncomingMessage): Promise<[status: number, body: object]> {
    if (!mayAsk(request)) return [401, { error: 'Internal token required' }]
    if (request.method !== 'POST') return [405, { error: 'Use POST' }]
    const command = new URL(request.url ?? '/', 'http://policy').searchParams.get('command')
    if (command !== 'allow' && command !== 'report') {
      return [400, { error: 'command must be allow or report' }]
    }
    const sent = parse(await bodyOf(request))
    if (!sent) return [400, { error: 'The body must be a JSON object' }]
    const attempt = attemptOf(sent)
    if (command === 'allow') return [200, await policy.allow(attempt)]
    const { success, policy_reject } = sent
    await policy.report(attempt, {
      success: success === true,
      policyReject: policy_reject === true,
    })
    return [200, { status: 0, msg: '' }]
  }

  return createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    answer(request).then(
      ([status, body]) => send(response, status, body),
      (error) => {
        log.error({ err: error }, 'auth policy request failed')
        // On an error Dovecot falls back to the password check.
        send(response, error instanceof TooLarge ? 413 : 500, { error: 'not decided' })
      },
    )
  })
}

class TooLarge extends Error {}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY) throw new TooLarge('the body is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

type Sent = Record<string, unknown>

function parse(text: string): Sent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Sent)
      : undefined
  } catch {
    return undefined
  }
}

const TOKEN_MECHANISMS = new Set(['XOAUTH2', 'OAUTHBEARER'])

const attemptOf = ({ login, user, master, mech, remote, protocol, matched }: Sent): Attempt => ({
  login: typeof login === 'string' ? login : '',
  remote: typeof remote === 'string' ? remote : '',
  protocol: typeof protocol === 'string' ? protocol : '',
  master: [master, user === login ? '' : user].find(isName),
  // Configurations before this field do not send it.
  isMatched: typeof matched === 'string' ? matched !== '' : undefined,
  appPasswordId: /^app-password:(\w+)$/.exec(String(matched))?.[1],
  grantId: /^grant:(\w+)$/.exec(String(matched))?.[1],
  needsCode: matched === 'second-factor',
  isToken: typeof mech === 'string' && TOKEN_MECHANISMS.has(mech.toUpperCase()),
})

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
