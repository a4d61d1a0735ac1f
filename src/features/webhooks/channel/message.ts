import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { findEvent } from '../../../events/catalogue.ts'
import type { EventType } from '../../../events/events.ts'
import { isObject } from '../../../lib/is-object.ts'
import { parseJson } from '../../../lib/json.ts'

export const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_TAGS = 100

/** The reason for rejecting a message. */
export type Problem = 'too_large' | 'not_json' | 'shape' | 'unknown_event' | 'data'

export interface Message {
  /** The id that the producer gave the message, if any. */
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
 * Parses a message of the channel: the envelope of an event, without the fields that delivery adds.
 * Only `event` (or `event_type`) is required. `data` may lack fields, but the fields it has must be of
 * the declared types, because receivers rely on them.
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

/** undefined: absent; WRONG: not a string, or too long. */
function text(value: unknown, max: number): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' && value.length <= max ? value : WRONG
}

const isTags = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TAGS &&
  value.every((tag) => typeof tag === 'string' && tag.length <= 255)

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const ajv = new Ajv({ strict: false })
;(formats as unknown as (one: Ajv) => void)(ajv)
const validators = new WeakMap<object, ValidateFunction>()

/** Compiles the schema of an event type at its first use: a daemon receives few of the types. */
function fits({ data: schema }: EventType, data: Fields): boolean {
  let validate = validators.get(schema)
  if (!validate) {
    const { required, ...rest } = schema as { required?: string[] }
    validate = ajv.compile(rest)
    validators.set(schema, validate)
  }
  return validate(withoutNulls(data))
}
