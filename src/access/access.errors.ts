import { ApiError, defineError } from '../errors.ts'

export const ApiKeyRequired = defineError({ status: 401, message: 'API key required' })
export const InvalidApiKey = defineError({ status: 401, message: 'Invalid API key' })
export const ApiKeyExpired = defineError({ status: 401, message: 'API key expired' })
export const InvalidToken = defineError({
  status: 401,
  message: 'Access token expired or invalid; request a new one',
})
export const AuthenticationRequired = defineError({
  status: 401,
  message: 'Authentication required',
})
export const SessionInvalid = defineError({ status: 401, message: 'Session expired or invalid' })
export const InvalidLogin = defineError({ status: 401, message: 'Invalid email or password' })
export const OperatorAddressMismatch = defineError({
  status: 401,
  message: 'Operator session IP mismatch',
})
export const InvalidMfaCode = defineError({ status: 401, message: 'Invalid MFA code' })
export const WriteAccessRequired = defineError({ status: 403, message: 'Write access required' })
export const AdminAccessRequired = defineError({ status: 403, message: 'Admin access required' })
export const ScopeRequired = defineError<string>({
  status: 403,
  code: 'SCOPE_REQUIRED',
  message: (scope) => `The API key needs the scope ${scope}`,
})
export const PlatformScopeRequired = defineError({
  status: 403,
  message: 'Platform scope required',
})
export const InsufficientRole = defineError({ status: 403, message: 'Insufficient operator role' })
export const AddressNotAllowed = defineError<string>({
  status: 403,
  code: 'ADDRESS_NOT_ALLOWED',
  message: (ip) =>
    `Your organization does not allow access from ${ip}; an operator of this host can change its IP rules`,
})
export const CsrfInvalid = defineError({ status: 403, message: 'CSRF token missing or invalid' })
export const MfaRequired = defineError({ status: 403, message: 'MFA required' })
export const PasswordChangeRequired = defineError({
  status: 403,
  code: 'password_change_required',
  message: 'Set a new password to continue',
})
export const InternalTokenRequired = defineError({
  status: 401,
  message:
    'Internal token required: send SVC_INTERNAL_TOKEN, or the content of DATA_DIR/internal-token, as X-Internal-Token',
})
export const InvalidInternalToken = defineError({
  status: 401,
  message: 'Invalid internal token',
})
export const DashboardSessionRequired = defineError({
  status: 400,
  message: 'This needs a dashboard session; sign in with email and password',
})

export class TooManyAttempts extends ApiError {
  constructor(blockedUntil: Date, now: Date) {
    const seconds = Math.max(1, Math.ceil((blockedUntil.getTime() - now.getTime()) / 1000))
    super(429, 'Too many failed attempts. Try again later.', {
      headers: { 'retry-after': String(seconds) },
    })
  }
}
