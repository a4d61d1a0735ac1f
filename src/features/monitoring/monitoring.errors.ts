import { ApiError } from '../../errors.ts'

/** Errors of these routes have `error` and `timestamp` beside the envelope. */
const described = (status: number, message?: string) =>
  class extends ApiError {
    static readonly described = { status, code: undefined, message }
    constructor(error: string, now: Date, more: object = {}) {
      super(status, error, { fields: { ...more, error, timestamp: now.toISOString() } })
    }
  }

export const MonitoringSilent = described(503)
export const UnknownService = described(404)
export const NotRestartable = described(409)
export const RestartFailed = described(503)
export const UrlNotConfigured = described(422)
