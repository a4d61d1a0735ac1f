import { InvalidEndpoint, UrlRequired } from './endpoints.errors.ts'

const MAX_URL = 1000
const MAX_NAME = 255
const MAX_SECRET = 512

/** The purpose that the vault seals secrets of endpoints for. */
export const ENDPOINT_SECRET = 'webhook endpoint secret'

export type Sent = Record<string, unknown>

interface EndpointFields {
  url?: string
  name?: string
  description?: string
  active?: boolean
  event_types?: string[] | null
}

/** Validates the fields of a request. Absent fields stay absent. */
export const readFields = (sent: Sent): EndpointFields => ({
  ...(sent.url !== undefined && { url: readUrl(sent.url) }),
  ...(sent.name !== undefined && { name: readName(sent.name) }),
  ...(sent.description !== undefined && { description: readDescription(sent.description) }),
  ...(sent.active !== undefined && { active: readActive(sent.active) }),
  ...(sent.event_types !== undefined && { event_types: readEventTypes(sent.event_types) }),
})

export function readUrl(sent: unknown): string {
  if (sent === undefined || sent === null || sent === '') throw new UrlRequired()
  if (typeof sent !== 'string') throw new InvalidEndpoint('url must be a string')
  const url = sent.trim()
  if (url === '') throw new UrlRequired()
  if (!/^https?:\/\//i.test(url)) {
    throw new InvalidEndpoint('url must start with http:// or https://')
  }
  if (url.length > MAX_URL) throw new InvalidEndpoint(`url must be ${MAX_URL} characters or less`)
  if (!URL.canParse(url)) throw new InvalidEndpoint('url is not a valid URL')
  return url
}

function readName(sent: unknown): string {
  if (typeof sent !== 'string') throw new InvalidEndpoint('name must be a string')
  if (sent.length > MAX_NAME) {
    throw new InvalidEndpoint(`name must be ${MAX_NAME} characters or less`)
  }
  return sent
}

function readDescription(sent: unknown): string {
  if (sent === null) return ''
  if (typeof sent !== 'string') throw new InvalidEndpoint('description must be a string')
  return sent
}

function readActive(sent: unknown): boolean {
  if (typeof sent !== 'boolean') throw new InvalidEndpoint('active must be a boolean')
  return sent
}

/** Names are not checked against the catalogue: an endpoint may subscribe to future events. */
function readEventTypes(sent: unknown): string[] | null {
  if (sent === null) return null
  if (!Array.isArray(sent)) throw new InvalidEndpoint('event_types must be a list or null')
  if (!sent.every((name) => typeof name === 'string' && name.trim() !== '')) {
    throw new InvalidEndpoint('event_types entries must be non-empty strings')
  }
  return [...new Set(sent.map((name: string) => name.trim()))]
}

export function readSecret(sent: unknown): string {
  if (typeof sent !== 'string' || sent === '') {
    throw new InvalidEndpoint('secret must be a non-empty string')
  }
  if (sent.length > MAX_SECRET) {
    throw new InvalidEndpoint(`secret must be ${MAX_SECRET} characters or less`)
  }
  return sent
}
