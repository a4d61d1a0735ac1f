import type { Auth } from '../access/labels.ts'
import type { DescribedRoute } from './collect.ts'

export interface ErrorAnswer {
  status: number
  message: string
  schema: keyof typeof errorSchemas
  example: object
}

/** Every failure a route can answer with: from its label, its schemas, and the errors it names. */
export function errorAnswers(route: DescribedRoute): ErrorAnswer[] {
  const { schema, errors, validation, throttled, downstream, auth } = route
  const answers = refusals(auth).map(([status, message]) => envelope(status, message))
  for (const { status, message, code } of errors) {
    answers.push(envelope(status, message ?? 'See the message', code))
  }
  const mutating = route.method !== 'get'
  if (mutating) {
    answers.push(
      envelope(409, 'The original request is still running', 'IDEMPOTENCY_IN_PROGRESS'),
      envelope(422, 'The key was used with a different body', 'IDEMPOTENCY_KEY_REUSED'),
    )
  }
  if (schema.body !== undefined) {
    if (validation === 'handler') {
      answers.push(envelope(400, 'No data provided'), handlerValidation)
    } else answers.unshift(typedValidation('body'))
    answers.push(envelope(413, 'Request body is too large'))
  }
  if (schema.querystring !== undefined) answers.unshift(typedValidation('query'))
  if (throttled || takesKeys(auth)) {
    answers.push(envelope(429, 'Too many failed attempts. Try again later.'))
  }
  if (downstream !== undefined) answers.push(unavailable(downstream))
  answers.push(envelope(500, 'Internal server error'))
  return answers.sort((one, other) => one.status - other.status)
}

/** Routes at which an API key may be presented, if only to be refused. */
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
  const nobody: [number, string] = [401, 'Authentication required']
  const badKey: [number, string][] = [
    [401, 'Invalid API key'],
    [401, 'API key expired'],
  ]
  switch (auth.kind) {
    case 'none':
    case 'bootstrap-token':
      return []
    case 'internal':
      return [[401, 'Service credential required']]
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
      return [nobody, ...badKey, ...session, ...mfa]
    case 'platform':
      return [nobody, ...badKey, ...session, ...mfa, [403, 'Platform scope required']]
    case 'operator':
      return [
        nobody,
        ...badKey,
        ...session,
        ...mfa,
        [403, 'Platform scope required'],
        [403, 'Insufficient operator role'],
      ]
    case 'mailbox-session':
      return auth.oldPasswordToo
        ? [nobody, ...session]
        : [nobody, ...session, [403, 'Set a new password to continue']]
    case 'partial-operator':
      return [nobody, ...session, [401, 'Operator session IP mismatch']]
  }
}

const CORRELATION_ID = 'req_01K9ZQ5T3M8B7C6D5E00000042'
const text = { type: 'string' }
const base = { type: { const: 'error' }, msg: text, correlation_id: text }
const required = ['type', 'msg', 'correlation_id']

/** The three shapes of a failure, as components. */
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
          properties: { loc: { type: 'array' }, msg: text, type: text },
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

const envelope = (status: number, message: string, code?: string): ErrorAnswer => ({
  status,
  message,
  schema: 'Error',
  example: {
    type: 'error',
    msg: message,
    ...(code !== undefined && { error_code: code }),
    correlation_id: CORRELATION_ID,
  },
})

const typedValidation = (part: string): ErrorAnswer => ({
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

const handlerValidation: ErrorAnswer = {
  ...envelope(400, 'Validation failed'),
  example: {
    type: 'error',
    msg: 'Validation failed',
    data: { errors: ['Name is required'] },
    correlation_id: CORRELATION_ID,
  },
}

const unavailable = (message: string): ErrorAnswer => ({
  status: 503,
  message,
  schema: 'Unavailable',
  example: { error: message, type: 'error', msg: message, correlation_id: CORRELATION_ID },
})
