/**
 * An error of RFC 8620: of a method (section 3.6.2), or of one object in a /set call (section 5.3).
 * The type is what programs act on.
 */
export class JmapError extends Error {
  readonly type: string
  readonly more: object

  constructor(type: string, more: { description?: string; [property: string]: unknown } = {}) {
    super(more.description ?? type)
    this.type = type
    this.more = more
  }

  toJSON() {
    return { type: this.type, ...this.more }
  }
}

export const invalidArguments = (description: string) =>
  new JmapError('invalidArguments', { description })

export const invalidProperties = (properties: string[], description?: string) =>
  new JmapError('invalidProperties', { properties, ...(description && { description }) })

/** RFC 8620 section 3.6.1: the request as a whole is refused. */
export class RequestRefused extends Error {
  readonly type: string
  readonly status: number
  readonly limit: string | undefined

  constructor(
    type: 'unknownCapability' | 'notJSON' | 'notRequest' | 'limit',
    detail: string,
    more: { status?: number; limit?: string } = {},
  ) {
    super(detail)
    this.type = `urn:ietf:params:jmap:error:${type}`
    this.status = more.status ?? 400
    this.limit = more.limit
  }

  toJSON() {
    const { type, status, limit, message: detail } = this
    return { type, status, detail, ...(limit !== undefined && { limit }) }
  }
}
