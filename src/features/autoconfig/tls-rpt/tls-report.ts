import { toDomainName } from '../../../lib/domain-name.ts'

const POLICY_TYPES = ['sts', 'tlsa', 'no-policy-found'] as const
const MAX_POLICIES = 100
const MAX_DETAILS = 1000
const MAX_TEXT = 255
const MAX_SESSIONS = 1e12
// RFC 8460 §4.3 and later additions: a registered word.
const RESULT_TYPE = /^[a-z0-9-]{1,50}$/
const MAX_RESULT_TYPES = 50

/** The counts of one policy in a report. */
export interface PolicyCounts {
  domain: string
  policy_type: (typeof POLICY_TYPES)[number]
  successful: number
  failed: number
  /** Failed sessions by result type. */
  failures: Record<string, number>
}

export interface TlsReport {
  reporter: string
  report_id: string
  starts_at: string
  ends_at: string
  policies: PolicyCounts[]
}

type Sent = Record<string, unknown>

/** Reads a report (RFC 8460 §4.4). Throws with the name of the field that is wrong. */
export function readTlsReport(sent: unknown): TlsReport {
  const report = objectOf(sent, 'the report')
  const range = objectOf(report['date-range'], 'date-range')
  const policies = listOf(report.policies, 'policies', MAX_POLICIES)
  return {
    reporter: textOf(report['organization-name'], 'organization-name'),
    report_id: textOf(report['report-id'], 'report-id'),
    starts_at: dateOf(range['start-datetime'], 'start-datetime'),
    ends_at: dateOf(range['end-datetime'], 'end-datetime'),
    policies: policies.map(policyOf),
  }
}

function policyOf(sent: unknown): PolicyCounts {
  const entry = objectOf(sent, 'policies')
  const policy = objectOf(entry.policy, 'policy')
  const summary = objectOf(entry.summary, 'summary')
  const type = POLICY_TYPES.find((one) => one === policy['policy-type'])
  if (type === undefined) throw new Error(`policy-type must be ${POLICY_TYPES.join(', ')}`)
  const domain = toDomainName(textOf(policy['policy-domain'], 'policy-domain'))
  if (domain === undefined) throw new Error('policy-domain must be a domain name')
  const details = listOf(entry['failure-details'] ?? [], 'failure-details', MAX_DETAILS)
  return {
    domain,
    policy_type: type,
    successful: countOf(
      summary['total-successful-session-count'],
      'total-successful-session-count',
    ),
    failed: countOf(summary['total-failure-session-count'], 'total-failure-session-count'),
    failures: failuresOf(details),
  }
}

function failuresOf(details: unknown[]): Record<string, number> {
  const failures = new Map<string, number>()
  for (const one of details) {
    const detail = objectOf(one, 'failure-details')
    const type = String(detail['result-type'])
    if (!RESULT_TYPE.test(type)) throw new Error('result-type must be a word of RFC 8460')
    if (!failures.has(type) && failures.size >= MAX_RESULT_TYPES) continue
    const count = countOf(detail['failed-session-count'], 'failed-session-count')
    failures.set(type, Math.min(MAX_SESSIONS, (failures.get(type) ?? 0) + count))
  }
  return Object.fromEntries(failures)
}

function objectOf(value: unknown, name: string): Sent {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Sent
  throw new Error(`${name} must be an object`)
}

function listOf(value: unknown, name: string, max: number): unknown[] {
  if (Array.isArray(value) && value.length <= max) return value
  throw new Error(`${name} must be a list of at most ${max} entries`)
}

function textOf(value: unknown, name: string): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT
  if (isText) return value.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()
  throw new Error(`${name} must be text of at most ${MAX_TEXT} characters`)
}

function countOf(value: unknown, name: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_SESSIONS) {
    return value as number
  }
  throw new Error(`${name} must be a count`)
}

const DATE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i

function dateOf(value: unknown, name: string): string {
  const date = typeof value === 'string' && DATE.test(value) ? new Date(value) : undefined
  if (date && !Number.isNaN(date.getTime())) return date.toISOString()
  throw new Error(`${name} must be a date and a time`)
}
