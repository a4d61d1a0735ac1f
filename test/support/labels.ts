/** The specified response to a kind of caller on a route with this label; `in` when accepted. */
export function verdict(label: string, method: string, caller: string): string {
  if (label === 'None' || label === 'X-Bootstrap-Token') return 'in'
  if (label === 'Internal token') return internalVerdict(caller)
  if (label === 'Mailbox session') return mailboxVerdict(method, caller)
  if (label === 'Operator session (partial)') return partialVerdict(method, caller)
  return credentialVerdict(label, method, caller) ?? labelVerdict(label, caller)
}

const NOBODY = '401 Authentication required'
const ENDED = '401 Session expired or invalid'
const CSRF = '403 CSRF token missing or invalid'
const ELSEWHERE = '401 Operator session IP mismatch'
const ROLES = ['support', 'operator', 'admin', 'owner']

const INTERNAL =
  '401 Internal token required: send SVC_INTERNAL_TOKEN, or the content of DATA_DIR/internal-token, as X-Internal-Token'

function internalVerdict(caller: string): string {
  if (caller === 'internal service') return 'in'
  return caller === 'mailbox bearer' ? '401 Invalid internal token' : INTERNAL
}

const writes = (method: string) => method !== 'GET'

function mailboxVerdict(method: string, caller: string): string {
  switch (caller) {
    case 'mailbox cookie':
    case 'mailbox bearer':
      return 'in'
    case 'mailbox cookie without CSRF':
      return writes(method) ? CSRF : 'in'
    case 'expired mailbox session':
      return ENDED
    default:
      return NOBODY
  }
}

function partialVerdict(method: string, caller: string): string {
  if (caller === 'partial operator' || ROLES.includes(caller)) return 'in'
  switch (caller) {
    case 'owner without CSRF':
      return writes(method) ? CSRF : 'in'
    case 'expired operator session':
      return ENDED
    case 'owner from another address':
      return ELSEWHERE
    default:
      return NOBODY
  }
}

/** Refusals before the label is checked: the credential, its second factor, its CSRF token. */
function credentialVerdict(label: string, method: string, caller: string): string | undefined {
  switch (caller) {
    case 'nobody':
    case 'internal service':
    case 'mailbox cookie':
    case 'mailbox cookie without CSRF':
    case 'mailbox bearer':
    case 'expired mailbox session':
      return label.startsWith('Key(') ? '401 API key required' : NOBODY
    case 'garbage key':
      return '401 Invalid API key'
    case 'expired key':
      return '401 API key expired'
    case 'expired dashboard session':
    case 'expired operator session':
      return ENDED
    case 'owner from another address':
      return ELSEWHERE
    case 'partial operator':
    case 'partial dashboard session':
      return '403 MFA required'
    case 'dashboard session without CSRF':
    case 'owner without CSRF':
      return writes(method) ? CSRF : undefined
    default:
      return undefined
  }
}

const SCOPE = '403 Platform scope required'
const ROLE = '403 Insufficient operator role'
const WRITE = '403 Write access required'
const ADMIN = '403 Admin access required'

function labelVerdict(label: string, caller: string): string {
  const who = caller.replace(' without CSRF', '')
  const isPlatform = who.includes('platform key') || ROLES.includes(who)
  const floor = /^Operator\((\w+)\+\)$/.exec(label)?.[1]
  if (floor !== undefined) {
    if (!isPlatform) return SCOPE
    return ROLES.indexOf(who) >= ROLES.indexOf(floor) ? 'in' : ROLE
  }
  switch (label) {
    case 'Key(read)':
    case 'Key or session':
      return 'in'
    case 'Key(write)':
      if (who === 'support') return ROLE
      return who.startsWith('read-only') ? WRITE : 'in'
    case 'Key(admin)':
      if (ROLES.includes(who)) return ROLES.indexOf(who) >= ROLES.indexOf('admin') ? 'in' : ROLE
      if (who.startsWith('read-only')) return WRITE
      return who === 'admin key' || who === 'dashboard session' ? 'in' : ADMIN
    case 'Platform(read)':
      return isPlatform ? 'in' : SCOPE
    case 'Dashboard session':
      return who.endsWith('dashboard session')
        ? 'in'
        : '400 This needs a dashboard session; sign in with email and password'
    default:
      throw new Error(`no verdict for the label ${label}: a new label needs one here`)
  }
}
