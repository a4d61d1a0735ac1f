import {
  type Arguments,
  flagArgument,
  optionalInteger,
  optionalStrings,
} from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { MAX_PROPERTIES } from '../core/limits.ts'
import { CONVENIENT, headerProperty } from '../mime/header-forms.ts'
import { needsBody, needsHeader, type Wanted } from '../mime/shown-email.ts'

const METADATA = ['id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt']
const BODY_PROPERTIES = [
  ...['partId', 'blobId', 'size', 'name', 'type', 'charset', 'disposition', 'cid'],
  ...['language', 'location'],
]
const DEFAULT_CONTENT = [
  ...Object.keys(CONVENIENT),
  ...['hasAttachment', 'preview', 'bodyValues', 'textBody', 'htmlBody', 'attachments'],
]

export const EMAIL_PROPERTIES = [...METADATA, ...DEFAULT_CONTENT, 'bodyStructure', 'headers']
const DEFAULT_PROPERTIES = [...METADATA, ...DEFAULT_CONTENT]

/** Checks which properties of messages a client wants, RFC 8621 sections 4.2 and 4.9. */
export function wantedProperties(args: Arguments, isParse = false): Wanted {
  const given = namesArgument(args, 'properties')
  const bodyGiven = namesArgument(args, 'bodyProperties')
  for (const property of given ?? []) check(property, EMAIL_PROPERTIES)
  for (const property of bodyGiven ?? []) {
    check(property, [...BODY_PROPERTIES, 'headers', 'subParts'])
  }
  const fallback = isParse ? DEFAULT_CONTENT : DEFAULT_PROPERTIES
  const properties = given ?? fallback
  return {
    properties: isParse ? [...properties] : [...new Set(['id', ...properties])],
    bodyProperties: bodyGiven ?? [...BODY_PROPERTIES, 'subParts'],
    fetchTextBodyValues: flagArgument(args, 'fetchTextBodyValues'),
    fetchHTMLBodyValues: flagArgument(args, 'fetchHTMLBodyValues'),
    fetchAllBodyValues: flagArgument(args, 'fetchAllBodyValues'),
    maxBodyValueBytes: optionalInteger(args, 'maxBodyValueBytes', 0) ?? 0,
  }
}

function namesArgument(args: Arguments, name: string): string[] | undefined {
  const names = optionalStrings(args, name)
  if (names && names.length > MAX_PROPERTIES) {
    throw new JmapError('requestTooLarge', {
      description: `Ask for at most ${MAX_PROPERTIES} ${name}`,
    })
  }
  return names
}

function check(property: string, known: readonly string[]): void {
  const isKnown = property.startsWith('header:')
    ? headerProperty(property) !== undefined
    : known.includes(property)
  if (!isKnown) throw invalidArguments(`There is no property ${property}`)
}

/** The part of the messages to read: nothing, the header, or all. */
export function depthOf({ properties }: Wanted): 'index' | 'header' | 'message' {
  if (properties.some(needsBody)) return 'message'
  return properties.some(needsHeader) ? 'header' : 'index'
}
