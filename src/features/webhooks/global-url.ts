import type { Caller } from '../../access/caller.ts'

/** Replaces the global URL where tenants read: it may contain a login and a token of the operator. */
export const HIDDEN_URL = 'the webhook URL of the platform'

/** Returns true for rows about the global URL if the caller is not the platform. */
export const hidesGlobalUrl = ({ scope }: Caller, row: { endpoint_id: string | null }): boolean =>
  scope !== 'platform' && row.endpoint_id === null
