export const VERDICTS = ['safe', 'suspicious', 'blocked'] as const
export type VerdictName = (typeof VERDICTS)[number]

export const REASONS = [
  'allowed_by_organization',
  'blocked_by_organization',
  'allowed_by_operator',
  'blocked_by_operator',
  'feed',
  'dns_list',
  'look_alike',
  'mixed_scripts',
  'ip_address',
  'user_part',
  'unreadable',
] as const
export type Reason = (typeof REASONS)[number]

export interface Verdict {
  verdict: VerdictName
  reasons: Reason[]
}
