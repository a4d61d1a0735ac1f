import type { Client } from '../api/client.ts'
import type { Kind } from './sessions.ts'

export interface Enrolment {
  secret: string
  otpauth_uri: string
  backup_codes: string[]
}

/** Starts a second factor with the partial session after the password. */
export const beginEnrolment = (kind: Kind, api: Client): Promise<Enrolment> =>
  kind === 'operator' ? api.post('/platform/auth/mfa/setup') : api.post('/auth/two-factor/setup')

/** The first code turns the second factor on and completes the session. */
export const confirmEnrolment = (kind: Kind, api: Client, code: string): Promise<unknown> =>
  kind === 'operator'
    ? api.post('/platform/auth/mfa', { body: { token: code } })
    : api.post('/auth/two-factor/verify', { body: { code } })
