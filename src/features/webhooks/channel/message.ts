import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { findEvent } from '../../../events/catalogue.ts'
import type { EventType } from '../../../events/events.ts'
import { parseJson } from '../../../lib/json.ts'

export const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_TAGS = 100

/** Why a message is not taken. */
export type Problem = 'too_large' | 'not_json' | 'shape' | 'unknown_event' | 'data'

export interface Message {
  /** The producer's own name for the message, when it has one. */
  id: string | undefined
  type: EventType
  org_id: string | undefined
  domain: string | undefined
  tags: string[]
  user_variables: object
  metadata: object
  data: Record<string, unknown>
}

type Fields = Record<string, unknown>

/**
 * A message of the channel: the envelope of an event, without what delivery adds. Only `event` (or
 * `event_type`) and `data` are needed. Fields that `data` lacks are the producer's business; those
 * it has must be of the declared types, which receivers rely on.
 */
export function readMessage(content: Buffer): Message | Problem {
  if (content.length > MAX_MESSAGE_BYTES) return 'too_large'
  let parsed: unknown
  try {
    parsed = parseJson(content)
  } catch {
    return 'not_json'
  }
  if (!isObject(parsed)) return 'shape'
  const { tags = [], user_variables = {}, metadata = {}, data = {} } = withoutNulls(parsed)
  const id = text(parsed.id, 255)
  const name = text(parsed.event ?? parsed.event_type, 200)
  const source = text(parsed.source, 64)
  const org_id = text(parsed.org_id ?? parsed.organization_id, 100)
  const domain = text(parsed.domain, 253)
  if ([id, name, source, org_id, domain].includes(WRONG)) return 'shape'
  if (!isObject(data) || !isObject(user_variables) || !isObject(metadata)) return 'shape'
  if (!isTags(tags) || name === undefined) return 'shape'
  const declared = findEvent(name)
  if (!declared) return 'unknown_event'
  if (!fits(declared, data)) return 'data'
  const type = { ...declared, name, source: source ?? declared.source }
  return { id, type, org_id, domain, tags, user_variables, metadata, data }
}

const WRONG = '\0'

/** Undefined when it is not there; WRONG when it is not a text of this length. */
function text(value: unknown, max: number): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' && value.length <= max ? value : WRONG
}

const isObject = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TAGS &&
  value.every((tag) => typeof tag === 'string' && tag.length <= 255)

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const ajv = new Ajv({ strict: false })
;(formats as unknown as (one: Ajv) => void)(ajv)
const validators = new WeakMap<object, ValidateFunction>()

/** Compiled when a type is first met; there are many, and a daemon hears of few. */
function fits({ data: schema }: EventType, data: Fields): boolean {
  let validate = validators.get(schema)
  if (!validate) {
    const { required, ...rest } = schema as { required?: string[] }
    validate = ajv.compile(rest)
    validators.set(schema, validate)
  }
  return validate(withoutNulls(data))
}
