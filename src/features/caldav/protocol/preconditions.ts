import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from './answers.ts'

const names = (header: string, etag: string | undefined): boolean =>
  etag !== undefined &&
  header.split(',').some((one) => {
    const tag = one.trim().replace(/^W\//, '')
    return tag === '*' || tag === `"${etag}"`
  })

/** Checks If-Match and If-None-Match (RFC 9110) against the entity tag of the present object. */
export function checkPreconditions(headers: IncomingHttpHeaders, etag: string | undefined): void {
  const match = headers['if-match']
  if (match !== undefined && !names(match, etag)) throw new Refusal(412)
  const noneMatch = headers['if-none-match']
  if (noneMatch !== undefined && names(noneMatch, etag)) throw new Refusal(412)
}

/** Checks If-Schedule-Tag-Match (RFC 6638 section 8.3): answers of attendees do not change this tag. */
export function checkScheduleTag(
  headers: IncomingHttpHeaders,
  tag: string | null | undefined,
): void {
  const match = headers['if-schedule-tag-match']
  if (match === undefined) return
  if (typeof match !== 'string' || !names(match, tag ?? undefined)) throw new Refusal(412)
}

/** Returns whether a reader already has the present object. */
export const isUnchanged = (headers: IncomingHttpHeaders, etag: string): boolean =>
  headers['if-none-match'] !== undefined && names(headers['if-none-match'], etag)
