export const POLICY_TYPES = ['pii', 'keyword', 'regex', 'file_type'] as const
export const ACTIONS = ['block', 'quarantine', 'encrypt', 'notify', 'log_only'] as const
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export const DIRECTIONS = ['inbound', 'outbound', 'both'] as const

export const MAX_PATTERNS = 200

export type PolicyType = (typeof POLICY_TYPES)[number]
export type PolicyAction = (typeof ACTIONS)[number]
export type Severity = (typeof SEVERITIES)[number]
