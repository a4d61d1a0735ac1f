import { rateSettingProblems } from '../../hosting/rate-settings.ts'
import { isObject } from '../../lib/is-object.ts'
import { type MailAddress, toMailAddress } from '../../lib/mail-address.ts'
import { passwordProblem } from '../../lib/passwords.ts'
import { MAX_ADDRESSES } from '../../sieve/forwarding.ts'

export type Sent = Record<string, unknown>

export const STATUSES = ['active', 'inactive', 'suspended'] as const
export type Status = (typeof STATUSES)[number]

const MAX_NAME = 255
const MAX_VACATION_MESSAGE = 20_000
const MAX_DESTINATIONS = 20_000

/** Returns the e-mail address in its stored form, or the problem with it. */
export function readEmail(sent: unknown): MailAddress | { problem: string } {
  if (typeof sent !== 'string' || sent.trim() === '')
    return { problem: 'Email address is required' }
  return toMailAddress(sent) ?? { problem: 'Invalid email format' }
}

export const newPasswordProblem = (sent: unknown): string | undefined =>
  typeof sent === 'string' ? passwordProblem(sent) : 'Password is required'

/** Returns all problems of the fields. Clients compare these texts. */
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
    ...rateSettingProblems(sent.rate_limits),
    ...['forward_enabled', 'vacation_enabled']
      .filter((name) => sent[name] !== undefined && typeof sent[name] !== 'boolean')
      .map((name) => `${name} must be a boolean`),
    ...textProblems(sent, 'name', 'Name', MAX_NAME),
    ...textProblems(sent, 'external_id', 'External ID', 255),
    ...textProblems(sent, 'vacation_message', 'Vacation message', MAX_VACATION_MESSAGE),
    ...forwardProblems(sent.forward_destination),
  ]
}

function quotaProblems(quota: unknown): string[] {
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
  const isShort = destination.length <= MAX_DESTINATIONS
  return isShort && destination.split(',').every((entry) => toMailAddress(entry))
    ? []
    : ['Invalid forward destination']
}

interface ScriptSettings {
  forward_enabled?: boolean
  forward_destination?: string | null
  vacation_enabled?: boolean
  vacation_message?: string | null
}

/** Problems of the settings as they would be after a change. */
export function settingsProblems(settings: ScriptSettings, email: string): string[] {
  const { forward_enabled, vacation_enabled } = settings
  const addresses = (settings.forward_destination ?? '').split(',').map((one) => one.trim())
  const problems: string[] = []
  if (addresses.length > MAX_ADDRESSES) {
    problems.push(`forward_destination may hold at most ${MAX_ADDRESSES} addresses`)
  }
  if (addresses.some((address) => address.toLowerCase() === email)) {
    problems.push('forward_destination must not contain the address of the mailbox itself')
  }
  if (forward_enabled && addresses.every((address) => address === '')) {
    problems.push('forward_destination is required when forward_enabled is true')
  }
  if (vacation_enabled && !settings.vacation_message?.trim()) {
    problems.push('vacation_message is required when vacation_enabled is true')
  }
  return problems
}

export const SCRIPT_FIELDS = [
  'forward_enabled',
  'forward_destination',
  'vacation_enabled',
  'vacation_message',
] as const

export const QUOTA_FIELDS = ['storage_quota', 'rate_limits', 'storage_quotas'] as const

const FIELDS = ['name', 'status', 'external_id', ...SCRIPT_FIELDS, ...QUOTA_FIELDS] as const

/** Returns those of the named fields that were sent. */
export const pick = (sent: Sent, names: readonly string[] = FIELDS): Record<string, never> =>
  Object.fromEntries(
    names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name] as never]),
  )
