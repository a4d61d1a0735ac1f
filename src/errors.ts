/**
 * What a caller is told when something is wrong: a status, a message in the API's words and,
 * where clients branch on it, an error code. Anything else that is thrown is a 500.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly data: object | undefined
  readonly headers: Record<string, string> | undefined
  /** Stand beside the envelope, for routes whose failures have had a shape of their own. */
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
  /** What of the details goes into the answer's `data`. */
  data?: (details: Details) => object | undefined
  /** What stands beside the envelope. */
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
    /** What the API description tells about this error. */
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

/** 422 in the envelope: values that are well-formed, but not acceptable. */
export const Unprocessable = defineError<string>({ status: 422, message: (text) => text })

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
    super(422, message ?? detail[0]?.msg ?? 'Validation failed')
    this.detail = detail
  }
}

/** The same answer for what only the rules can judge, such as a password that is too common. */
export const invalidField = (field: string, message: string): InvalidRequest =>
  new InvalidRequest([{ loc: ['body', field], msg: message, type: 'value_error' }])

/** A mail server or another daemon is away: 503 in the shape of a proxied failure, `{error}`. */
export class ServiceUnavailable extends ApiError {
  constructor(message: string) {
    super(503, message)
  }
}
