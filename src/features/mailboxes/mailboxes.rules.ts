import { type MailAddress, toMailAddress } from '../../lib/mail-address.ts'
import { passwordProblem } from '../../lib/passwords.ts'

export type Sent = Record<string, unknown>

export const STATUSES = ['active', 'inactive', 'suspended'] as const
export type Status = (typeof STATUSES)[number]

const MAX_NAME = 255
const MAX_VACATION_MESSAGE = 20_000

/** The address a mailbox is stored under, or what is wrong with the one that was sent. */
export function readEmail(sent: unknown): MailAddress | { problem: string } {
  if (typeof sent !== 'string' || sent.trim() === '')
    return { problem: 'Email address is required' }
  return toMailAddress(sent) ?? { problem: 'Invalid email format' }
}

export const newPasswordProblem = (sent: unknown): string | undefined =>
  typeof sent === 'string' ? passwordProblem(sent) : 'Password is required'

/** Everything wrong with the fields of a mailbox, in the words clients compare. */
export function accountProblems(sent: Sent): string[] {
  const { storage_quota: quota, status } = sent
  return [
    ...(quota === undefined ? [] : quotaProblems(quota)),
    ...(status === undefined || STATUSES.includes(status as Status)
      ? []
      : ['Invalid account status']),
    ...['rate_limits', 'storage_quotas']
      .filter((name) => sent[name] !== undefined && !isObject(sent[name]))
      .map((name) => `${name} must be an object`),
    ...['forward_enabled', 'vacation_enabled']
      .filter((name) => sent[name] !== undefined && typeof sent[name] !== 'boolean')
      .map((name) => `${name} must be a boolean`),
    ...textProblems(sent, 'name', 'Name', MAX_NAME),
    ...textProblems(sent, 'external_id', 'External ID', 255),
    ...textProblems(sent, 'vacation_message', 'Vacation message', MAX_VACATION_MESSAGE),
    ...forwardProblems(sent.forward_destination),
  ]
}

export function quotaProblems(quota: unknown): string[] {
  if (typeof quota !== 'number' || !Number.isSafeInteger(quota))
    return ['Storage quota must be a valid number']
  return quota < 0 ? ['Storage quota must be non-negative'] : []
}

function textProblems(sent: Sent, name: string, label: string, limit: number): string[] {
  const value = sent[name]
  if (value === undefined || value === null) return []
  if (typeof value !== 'string') return [`${name} must be a string`]
  return value.length > limit ? [`${label} must be ${limit} characters or less`] : []
}

function forwardProblems(destination: unknown): string[] {
  if (destination === undefined || destination === null || destination === '') return []
  if (typeof destination !== 'string') return ['forward_destination must be a string']
  return destination.split(',').every((entry) => toMailAddress(entry))
    ? []
    : ['Invalid forward destination']
}

export const QUOTA_FIELDS = ['storage_quota', 'rate_limits', 'storage_quotas'] as const

const FIELDS = [
  'name',
  'status',
  'external_id',
  'forward_enabled',
  'forward_destination',
  'vacation_enabled',
  'vacation_message',
  ...QUOTA_FIELDS,
] as const

/** The named fields that were sent; whatever else was, nobody has a say in. */
export const pick = (sent: Sent, names: readonly string[] = FIELDS): Record<string, never> =>
  Object.fromEntries(
    names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name] as never]),
  )

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
