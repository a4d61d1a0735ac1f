import type { Delete, Get, Patch, Post, Put } from './schema.ts'

interface Failure {
  /** 0: no answer came. */
  status: number
  message: string
  code?: string | undefined
  correlationId?: string | undefined
  /** Messages by field of the body, of a 422. */
  fields?: Record<string, string>
  /** Seconds to wait, of a 429 or 503. */
  retryAfter?: number | undefined
  data?: unknown
}

/** A call that failed, in the words of the API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly correlationId: string | undefined
  readonly fields: Record<string, string>
  readonly retryAfter: number | undefined
  readonly data: unknown

  constructor({ status, message, code, correlationId, fields = {}, retryAfter, data }: Failure) {
    super(message)
    this.status = status
    this.code = code
    this.correlationId = correlationId
    this.fields = fields
    this.retryAfter = retryAfter
    this.data = data
  }
}

export interface Session {
  /** The value of the header X-Session: which session cookie the calls use. */
  name: 'dashboard' | 'operator' | 'mailbox'
  csrfCookie: string
  /** Runs when the session has ended. */
  onEnd(): void
}

type Input<Operation> = Omit<Operation, 'data'> & Options
interface Options {
  signal?: AbortSignal
  idempotencyKey?: string
  headers?: Record<string, string>
}
type Args<Operation> =
  Record<never, never> extends Omit<Operation, 'data'>
    ? [input?: Input<Operation>]
    : [input: Input<Operation>]
type Data<Operation> = Operation extends { data: infer Answer } ? Answer : never

interface AnyInput extends Options {
  params?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  isFile?: boolean
}

export type Client = ReturnType<typeof client>

/** The calls of a surface. They use the session of the surface and no other one of the browser. */
export function client(session: Session) {
  async function send(method: string, path: string, input: AnyInput = {}): Promise<unknown> {
    return (await call(method, path, input)).data
  }

  async function call(method: string, path: string, input: AnyInput = {}) {
    const answer = await fetch(urlOf(path, input), {
      method,
      headers: headersOf(session, method, input),
      body: input.body === undefined ? null : JSON.stringify(input.body),
      signal: input.signal ?? null,
    }).catch((problem) => {
      if (input.signal?.aborted) throw problem
      throw new ApiError({ status: 0, message: UNREACHABLE })
    })
    if (answer.ok && input.isFile) return { answer, data: await answer.blob() }
    const body = answer.status === 204 ? undefined : await answer.json().catch(() => undefined)
    if (answer.ok) return { answer, data: body?.type === 'success' ? body.data : body }
    const error = errorOf(answer, body)
    if (isSessionEnd(error)) session.onEnd()
    throw error
  }

  return {
    session,
    get: <Path extends keyof Get>(path: Path, ...[input]: Args<Get[Path]>) =>
      send('GET', path, input as AnyInput) as Promise<Data<Get[Path]>>,
    /** A page that is a bare array, with the total of the header X-Total-Count. */
    async list<Path extends keyof Get>(path: Path, ...[input]: Args<Get[Path]>) {
      const { answer, data } = await call('GET', path, input as AnyInput)
      const total = answer.headers.get('x-total-count')
      return {
        items: data as Data<Get[Path]>,
        ...(total !== null && { pagination: { total: Number(total) } }),
      }
    },
    post: <Path extends keyof Post>(path: Path, ...[input]: Args<Post[Path]>) =>
      send('POST', path, input as AnyInput) as Promise<Data<Post[Path]>>,
    /** A POST whose answer is a file. */
    file: <Path extends keyof Post>(path: Path, ...[input]: Args<Post[Path]>) =>
      send('POST', path, { ...(input as AnyInput), isFile: true }) as Promise<Blob>,
    put: <Path extends keyof Put>(path: Path, ...[input]: Args<Put[Path]>) =>
      send('PUT', path, input as AnyInput) as Promise<Data<Put[Path]>>,
    patch: <Path extends keyof Patch>(path: Path, ...[input]: Args<Patch[Path]>) =>
      send('PATCH', path, input as AnyInput) as Promise<Data<Patch[Path]>>,
    delete: <Path extends keyof Delete>(path: Path, ...[input]: Args<Delete[Path]>) =>
      send('DELETE', path, input as AnyInput) as Promise<Data<Delete[Path]>>,
  }
}

/** Replaced by the words of the page's language where the error is shown. */
export const UNREACHABLE = 'The server cannot be reached'

/** The headers that name the session; a change needs the token of its cookie as well. */
export const sessionHeaders = ({ name, csrfCookie }: Session, method: string) => ({
  'x-session': name,
  ...(method !== 'GET' && { 'x-csrf-token': cookie(csrfCookie) }),
})

function headersOf(session: Session, method: string, input: AnyInput) {
  const headers: Record<string, string> = { ...sessionHeaders(session, method), ...input.headers }
  if (input.body !== undefined) headers['content-type'] = 'application/json'
  if (input.idempotencyKey) headers['idempotency-key'] = input.idempotencyKey
  return headers
}

const cookie = (name: string): string =>
  document.cookie.match(new RegExp(`(?:^|; )${name}=([^;]+)`))?.[1] ?? ''

// The words of src/access/access.errors.ts. A wrong password or code is a 401 too, and ends nothing.
const ENDED = [
  'Session expired or invalid',
  'Authentication required',
  'API key required',
  'Operator session IP mismatch',
  'MFA required',
]
export const isSessionEnd = ({ message }: ApiError): boolean => ENDED.includes(message)

function urlOf(path: string, { params, query }: AnyInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params?.[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return `/api/v1${filled}${search.size > 0 ? `?${search}` : ''}`
}

interface ErrorBody {
  msg?: string
  error?: string
  error_code?: string
  data?: { errors?: unknown }
  detail?: { loc: (string | number)[]; msg: string }[]
}

function errorOf(answer: Response, body: ErrorBody | undefined): ApiError {
  const detail = Array.isArray(body?.detail) ? body.detail : []
  // Handlers list everything that is wrong under the words "Validation failed".
  const listed = Array.isArray(body?.data?.errors) ? body.data.errors.join('. ') : undefined
  return new ApiError({
    status: answer.status,
    message:
      (listed || body?.msg) ??
      body?.error ??
      detail[0]?.msg ??
      `${answer.status} ${answer.statusText}`,
    code: body?.error_code,
    correlationId: answer.headers.get('x-correlation-id') ?? undefined,
    fields: Object.fromEntries(detail.map(({ loc, msg }) => [loc.slice(1).join('.'), msg])),
    retryAfter: Number(answer.headers.get('retry-after')) || undefined,
    data: body?.data,
  })
}
