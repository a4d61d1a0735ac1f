import {
  AddressNotAllowed,
  InternalTokenRequired,
  InvalidInternalToken,
} from '../access/access.errors.ts'
import type { Auth } from '../access/labels.ts'
import { areaOf } from '../access/scopes.ts'
import { DatabaseAway, MALFORMED_ADDRESS } from '../errors.ts'
import type { DescribedRoute } from './collect.ts'

export interface ErrorResponse {
  status: number
  message: string
  code?: string
  schema: keyof typeof errorSchemas
  example: object
}

/** The error responses of a route: from its auth label, its schemas and the errors it declares. */
export function errorResponses(route: DescribedRoute): ErrorResponse[] {
  const { schema, errors, validation, throttled, downstream, auth } = route
  const responses = refusals(auth).map(([status, message]) => envelope(status, message))
  if (auth.kind === 'key') {
    const scope = `${areaOf(route.url)}:${auth.permission}`
    responses.push(envelope(403, `The API key needs the scope ${scope}`, 'SCOPE_REQUIRED'))
  }
  if (isOfTenant(auth)) {
    const { status, code } = AddressNotAllowed.described
    responses.push(envelope(status, new AddressNotAllowed('192.0.2.1').message, code))
  }
  for (const { status, message, code } of errors) {
    responses.push(envelope(status, message ?? SEE_MESSAGE, code))
  }
  const mutating = route.method !== 'get'
  if (mutating) {
    responses.push(
      envelope(409, 'The original request is still running', 'IDEMPOTENCY_IN_PROGRESS'),
      envelope(422, 'The key was used with a different body', 'IDEMPOTENCY_KEY_REUSED'),
    )
  }
  if (schema.body !== undefined) {
    if (validation === 'handler') {
      responses.push(envelope(400, 'No data provided'), handlerValidation)
    } else responses.unshift(typedValidation('body'))
    responses.push(
      envelope(413, 'Request body is too large'),
      envelope(415, 'Send the body as application/json'),
    )
  }
  if (schema.querystring !== undefined) responses.unshift(typedValidation('query'))
  if (schema.params !== undefined) {
    responses.unshift(envelope(400, MALFORMED_ADDRESS))
    if (isTyped(schema.params)) responses.unshift(typedValidation('path'))
  }
  if (throttled || takesKeys(auth)) {
    responses.push(envelope(429, 'Too many failed attempts. Try again later.'))
  }
  if (downstream !== undefined) responses.push(unavailable(downstream))
  const { status, message = '', code } = DatabaseAway.described
  const away = forServices(envelope(status, message, code))
  responses.push(away, envelope(500, 'Internal server error'))
  return (auth.kind === 'internal' ? responses.map(forServices) : responses).sort(
    (one, other) => one.status - other.status,
  )
}

/** For errors whose message depends on the request. */
export const SEE_MESSAGE = 'See the message'

interface Parameters {
  properties?: Record<string, Record<string, unknown>>
}

/** Returns whether a path can fail its schema: its parameters are more than plain text. */
const isTyped = (params: unknown): boolean =>
  Object.values((params as Parameters).properties ?? {}).some(
    (property) =>
      property.type !== 'string' ||
      ['enum', 'format', 'maxLength', 'minLength', 'pattern'].some((name) => name in property),
  )

/** Returns whether an organization may call, so that its IP rules apply. */
const isOfTenant = ({ kind }: Auth) =>
  ['key', 'key-or-session', 'dashboard-session', 'mailbox-session', 'mail-program'].includes(kind)

/** Returns whether the guard reads an API key on routes with this label, if only to reject it. */
const takesKeys = ({ kind }: Auth) =>
  ['key', 'key-or-session', 'platform', 'operator', 'dashboard-session'].includes(kind)

function refusals(auth: Auth): [number, string][] {
  const session: [number, string][] = [
    [401, 'Session expired or invalid'],
    [403, 'CSRF token missing or invalid'],
  ]
  const mfa: [number, string][] = [
    [401, 'Operator session IP mismatch'],
    [403, 'MFA required'],
  ]
  const missing: [number, string] = [401, 'Authentication required']
  const badKey: [number, string][] = [
    [401, 'Invalid API key'],
    [401, 'API key expired'],
  ]
  switch (auth.kind) {
    case 'none':
    case 'bootstrap-token':
      return []
    case 'key': {
      const extra: Record<string, [number, string][]> = {
        read: [],
        write: [
          [403, 'Write access required'],
          [403, 'Insufficient operator role'],
        ],
        admin: [
          [403, 'Admin access required'],
          [403, 'Insufficient operator role'],
        ],
      }
      return [
        [401, 'API key required'],
        ...badKey,
        ...session,
        ...mfa,
        ...(extra[auth.permission] ?? []),
      ]
    }
    case 'key-or-session':
    case 'dashboard-session':
      return [missing, ...badKey, ...session, ...mfa]
    case 'platform':
      return [missing, ...badKey, ...session, ...mfa, [403, 'Platform scope required']]
    case 'operator':
      return [
        missing,
        ...badKey,
        ...session,
        ...mfa,
        [403, 'Platform scope required'],
        [403, 'Insufficient operator role'],
      ]
    case 'mailbox-session':
      return auth.oldPasswordToo
        ? [missing, ...session]
        : [missing, ...session, [403, 'Set a new password to continue']]
    case 'mail-program':
      return [missing, ...session, [403, 'Set a new password to continue']]
    case 'partial-operator':
      return [missing, ...session, [401, 'Operator session IP mismatch']]
    case 'internal':
      return [InternalTokenRequired, InvalidInternalToken].map(({ described }) => [
        described.status,
        described.message as string,
      ])
  }
}

const CORRELATION_ID = 'req_01K9ZQ5T3M8B7C6D5E00000042'
const text = { type: 'string' }
const base = { type: { const: 'error' }, msg: text, correlation_id: text }
const required = ['type', 'msg', 'correlation_id']

/** Component schemas of the three shapes of an error body. */
export const errorSchemas = {
  Error: {
    type: 'object',
    required,
    properties: {
      ...base,
      error_code: { ...text, description: 'Stable; to branch on' },
      data: { type: 'object' },
    },
  },
  ValidationError: {
    type: 'object',
    required,
    properties: {
      ...base,
      error_code: text,
      detail: {
        type: 'array',
        items: {
          type: 'object',
          required: ['loc', 'msg', 'type'],
          properties: {
            loc: { type: 'array', items: { type: ['string', 'integer'] } },
            msg: text,
            type: text,
          },
        },
      },
    },
  },
  Unavailable: {
    type: 'object',
    required: ['error', ...required],
    properties: { ...base, error: text },
  },
}

const envelope = (status: number, message: string, code?: string): ErrorResponse => ({
  status,
  message,
  ...(code !== undefined && { code }),
  schema: 'Error',
  example: {
    type: 'error',
    msg: message,
    ...(code !== undefined && { error_code: code }),
    correlation_id: CORRELATION_ID,
  },
})

const typedValidation = (part: string): ErrorResponse => ({
  status: 422,
  message: `The ${part} does not match its model`,
  schema: 'ValidationError',
  example: {
    type: 'error',
    msg: 'name is required',
    detail: [{ loc: [part, 'name'], msg: 'Is required', type: 'missing' }],
    correlation_id: CORRELATION_ID,
  },
})

const handlerValidation: ErrorResponse = {
  ...envelope(400, 'Validation failed'),
  example: {
    type: 'error',
    msg: 'Validation failed',
    data: { errors: ['Name is required'] },
    correlation_id: CORRELATION_ID,
  },
}

/** Other services read the message from `error`. */
const forServices = (response: ErrorResponse): ErrorResponse => ({
  ...response,
  schema: response.schema === 'Error' ? 'Unavailable' : response.schema,
  example: { error: response.message, ...response.example },
})

const unavailable = (message: string): ErrorResponse => ({
  status: 503,
  message,
  schema: 'Unavailable',
  example: { error: message, type: 'error', msg: message, correlation_id: CORRELATION_ID },
})
