import { isObject } from '../../../lib/is-object.ts'
import { isDate } from '../core/arguments.ts'
import { invalidProperties } from '../core/errors.ts'
import { CONVENIENT, type ConvenientName, type Form, headerProperty } from '../mime/header-forms.ts'
import type { NewEmail, NewPart } from '../mime/write-message.ts'

const SERVER_SET = ['id', 'blobId', 'threadId', 'size', 'hasAttachment', 'preview', 'headers']
const BODY = ['bodyStructure', 'textBody', 'htmlBody', 'attachments', 'bodyValues']
const PART_PROPERTIES = [
  ...['partId', 'blobId', 'size', 'name', 'type', 'charset', 'disposition', 'cid'],
  ...['language', 'location', 'subParts'],
]
const MAX_PARTS = 400
const MAX_DEPTH = 20

/** Checks a message that a client describes, RFC 8621 section 4.6. Returns the blobs that it needs. */
export function checkEmail(email: Record<string, unknown>): string[] {
  const wrong = new Set<string>()
  const fields = checkFields(email, wrong)
  if (email.bodyStructure && (email.textBody || email.htmlBody || email.attachments)) {
    wrong.add('bodyStructure')
  }
  checkBody(email, 'textBody', 'text/plain', wrong)
  checkBody(email, 'htmlBody', 'text/html', wrong)
  checkValues(email.bodyValues, wrong)
  const blobIds: string[] = []
  if (wrong.size === 0) {
    const check = partChecker(email as NewEmail, fields, blobIds)
    for (const list of ['textBody', 'htmlBody', 'attachments'] as const) {
      const parts = email[list] ?? []
      if (!Array.isArray(parts) || !parts.every((part) => check(part, 0))) wrong.add(list)
    }
    const { bodyStructure } = email
    if (bodyStructure && !check(bodyStructure, 0)) wrong.add('bodyStructure')
  }
  if (wrong.size > 0) throw invalidProperties([...wrong])
  return blobIds
}

/** Returns the names of the fields that the message sets itself. */
function checkFields(email: Record<string, unknown>, wrong: Set<string>): Set<string> {
  const fields = new Set<string>()
  for (const [property, value] of Object.entries(email)) {
    if (BODY.includes(property)) continue
    const field = fieldOf(property)
    const isSet = field !== undefined && !SERVER_SET.includes(property)
    if (!isSet || fields.has(field.name.toLowerCase()) || !fits(field, value)) wrong.add(property)
    else fields.add(field.name.toLowerCase())
  }
  return fields
}

interface SetField {
  name: string
  form: Form
  all: boolean
}

/** The field that a property sets; the fields of the content follow from the parts. */
function fieldOf(property: string): SetField | undefined {
  if (Object.hasOwn(CONVENIENT, property)) {
    return { ...CONVENIENT[property as ConvenientName], all: false }
  }
  if (!property.startsWith('header:')) return undefined
  const field = headerProperty(property)
  return field && !/^content-/i.test(field.name) ? field : undefined
}

function fits({ form, all }: SetField, value: unknown): boolean {
  if (value === null) return true
  if (all) return Array.isArray(value) && value.every((one) => fitsForm(form, one))
  return fitsForm(form, value)
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const isAddress = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.email === 'string' &&
  (value.name === undefined || value.name === null || typeof value.name === 'string')

const isAddresses = (value: unknown): boolean => Array.isArray(value) && value.every(isAddress)

function fitsForm(form: Form, value: unknown): boolean {
  switch (form) {
    case 'asRaw':
      // A line break must be followed by a space, or the rest would be another field.
      return typeof value === 'string' && !/\0|\r(?!\n)|(?<!\r)\n|\n(?![ \t])/.test(value)
    case 'asText':
      return typeof value === 'string'
    case 'asAddresses':
      return isAddresses(value)
    case 'asGroupedAddresses':
      return (
        Array.isArray(value) && value.every((one) => isObject(one) && isAddresses(one.addresses))
      )
    case 'asMessageIds':
    case 'asURLs':
      return isTexts(value)
    case 'asDate':
      return isDate(value)
  }
}

function checkBody(
  email: Record<string, unknown>,
  list: 'textBody' | 'htmlBody',
  type: string,
  wrong: Set<string>,
): void {
  const parts = email[list]
  if (parts === undefined || parts === null) return
  const [part, ...more] = Array.isArray(parts) ? parts : []
  if (!isObject(part) || more.length > 0 || (part.type ?? type) !== type) wrong.add(list)
}

function checkValues(values: unknown, wrong: Set<string>): void {
  if (values === undefined || values === null) return
  const isValid =
    isObject(values) &&
    Object.values(values).every(
      (one) =>
        isObject(one) &&
        typeof one.value === 'string' &&
        !one.isEncodingProblem &&
        !one.isTruncated,
    )
  if (!isValid) wrong.add('bodyValues')
}

function partChecker(email: NewEmail, fields: ReadonlySet<string>, blobIds: string[]) {
  let count = 0
  const check = (value: unknown, depth: number): boolean => {
    if (!isObject(value) || depth > MAX_DEPTH || ++count > MAX_PARTS) return false
    const part = value as NewPart
    if (!Object.entries(part).every(([name, one]) => isPartProperty(name, one, fields, depth))) {
      return false
    }
    const { partId, blobId, subParts } = part
    const sources = [partId, blobId, subParts].filter((one) => one !== undefined && one !== null)
    if (sources.length !== 1) return false
    if (subParts) return Array.isArray(subParts) && subParts.every((one) => check(one, depth + 1))
    if (blobId) blobIds.push(blobId)
    else if (!Object.hasOwn(email.bodyValues ?? {}, partId ?? '')) return false
    // The server writes the text, so it knows charset and size.
    return !partId || (!('charset' in part) && !('size' in part))
  }
  return check
}

function isPartProperty(
  name: string,
  value: unknown,
  fields: ReadonlySet<string>,
  depth: number,
): boolean {
  if (name.startsWith('header:')) {
    const field = headerProperty(name)
    if (!field || /^content-transfer-encoding$/i.test(field.name)) return false
    return !(depth === 0 && fields.has(field.name.toLowerCase())) && fits(field, value)
  }
  if (!PART_PROPERTIES.includes(name)) return false
  if (value === null || name === 'subParts') return true
  if (name === 'language') return isTexts(value)
  return name === 'size' ? Number.isSafeInteger(value) : typeof value === 'string'
}
