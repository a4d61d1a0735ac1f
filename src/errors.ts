/**
 * An error response: a status, a message in the words of the API and, where clients branch on it, an
 * error code. Every other thrown error is a 500.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly data: object | undefined
  readonly headers: Record<string, string> | undefined
  /** Fields beside the envelope, for routes with an error shape of their own. */
  readonly fields: object | undefined

  constructor(
    status: number,
    message: string,
    more: {
      code?: string
      data?: object
      headers?: Record<string, string>
      fields?: object
    } = {},
  ) {
    super(message)
    this.status = status
    this.code = more.code
    this.data = more.data
    this.headers = more.headers
    this.fields = more.fields
  }
}

interface Declaration<Details> {
  status: number
  message: string | ((details: Details) => string)
  code?: string
  /** The part of the details that the response shows as `data`. */
  data?: (details: Details) => object | undefined
  /** Fields beside the envelope. */
  fields?: object
}

export interface DescribedError {
  status: number
  code: string | undefined
  message: string | undefined
}

/** Declares an error once, to be thrown by name: `throw new DomainNotFound()`. */
export function defineError<Details = void>(declaration: Declaration<Details>) {
  const { status, message, code, data, fields } = declaration
  return class extends ApiError {
    /** The entry of this error in the API description. */
    static readonly described: DescribedError = {
      status,
      code,
      message: typeof message === 'string' ? message : undefined,
    }
    constructor(details: Details) {
      super(status, typeof message === 'string' ? message : message(details), {
        ...(code !== undefined && { code }),
        ...(data && { data: data(details) as object }),
        ...(fields && { fields }),
      })
    }
  }
}

/** 400 with every problem a handler found, collected before answering. */
export const ValidationFailed = defineError<string[]>({
  status: 400,
  message: 'Validation failed',
  data: (errors) => ({ errors }),
})

export const NoDataProvided = defineError({ status: 400, message: 'No data provided' })

/** The message of 400 for a path that cannot be decoded, such as `/%zz`. */
export const MALFORMED_ADDRESS = 'The address of this request is malformed'

/** 422 in the envelope: values that are well-formed, but not acceptable. */
export const Unprocessable = defineError<string>({ status: 422, message: (text) => text })

/** The work that a request asks for exceeded its time limit. */
export const TooMuchWork = defineError({
  status: 422,
  code: 'TOO_MUCH_WORK',
  message: 'This takes too long to compute; send less text, or fewer and simpler patterns',
})

/** The threads that do long work have too much to do. */
export const WorkersBusy = defineError({
  status: 503,
  code: 'WORKERS_BUSY',
  message: 'Too many requests of this kind are being computed; try again in a few seconds',
})

/**
 * A statement failed because the database is away, is changing its primary, is too busy, or ended a
 * deadlock. Its outcome is unknown if the connection was lost while it ran. Keeps the code of the cause.
 */
export class DatabaseUnavailable extends Error {
  readonly code: string
  readonly severity: string | undefined
  constructor(cause: Error & { code?: string; severity?: string }) {
    super(cause.message, { cause })
    this.code = cause.code ?? ''
    this.severity = cause.severity
  }
}

/** The answer to a request whose statement failed with `DatabaseUnavailable`. */
export class DatabaseAway extends ApiError {
  static readonly described: DescribedError = {
    status: 503,
    code: 'DATABASE_UNAVAILABLE',
    message: 'The database is not available at the moment; try again in a few seconds',
  }
  constructor() {
    const { status, code = '', message = '' } = DatabaseAway.described
    // With `error`, like every answer about a service that is away.
    super(status, message, { code, headers: { 'retry-after': '3' }, fields: { error: message } })
  }
}

/** Errors of every route whose work runs in a worker thread. */
export const WORK_ERRORS = [TooMuchWork, WorkersBusy]

/** One thing wrong with a typed request: where, what, and a stable word for the kind of problem. */
export interface Problem {
  loc: (string | number)[]
  msg: string
  type: string
}

/** 422 `{detail}`: the request does not match its model. */
export class InvalidRequest extends ApiError {
  readonly detail: Problem[]
  constructor(detail: Problem[], message?: string) {
    // Without a code of its own, Fastify would add the name of its error.
    super(422, message ?? detail[0]?.msg ?? 'Validation failed', { code: 'VALIDATION_FAILED' })
    this.detail = detail
  }
}

/** The same answer for what only the rules can judge, such as a password that is too common. */
export const invalidField = (field: string, message: string): InvalidRequest =>
  new InvalidRequest([{ loc: ['body', field], msg: message, type: 'value_error' }])

/** 422 with the names of the fields that this caller cannot change. */
export const notWritable = (names: readonly string[]): InvalidRequest =>
  new InvalidRequest(
    names.map((name) => ({
      loc: ['body', name],
      msg: 'This field cannot be changed here',
      type: 'read_only',
    })),
    `Nothing was changed: ${names.join(', ')} cannot be changed here`,
  )

/**
 * Refuses a change without any field that it can write, when it names other fields of the row: it would be
 * answered as a success and change nothing. Unknown fields are ignored.
 */
export function refuseNotWritable(sent: object, row: object, isEmpty: boolean): void {
  const names = Object.keys(sent).filter((name) => name in row)
  if (isEmpty && names.length > 0) throw notWritable(names)
}

/** A mail server or another daemon is away: 503 in the shape of a proxied failure, `{error}`. */
export class ServiceUnavailable extends ApiError {
  constructor(message: string, headers?: Record<string, string>) {
    super(503, message, headers && { headers })
  }
}
