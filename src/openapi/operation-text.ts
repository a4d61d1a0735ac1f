import { type Auth, isConsole } from '../access/labels.ts'
import { areaOf } from '../access/scopes.ts'
import type { DescribedRoute } from './collect.ts'

/** The description of an operation: its own words, then what its declaration implies. */
export function descriptionOf(route: DescribedRoute): string {
  const { auth, deprecated, method, schema } = route
  const mutates = method !== 'get'
  const facts = [
    schema.description,
    callersOf(auth, areaOf(route.url)),
    isConsole(auth) &&
      `The audit trail names ${mutates ? 'it' : 'a read'} \`${schema.operationId}\`.`,
    isPaged(schema.querystring) && 'The answer is one page; `pagination` says how many there are.',
    deprecated &&
      `Deprecated since ${deprecated.since}; use \`${deprecated.replacement}\` before ${deprecated.sunset}.`,
  ]
  return facts.filter(Boolean).join(' ')
}

function callersOf(auth: Auth, area: string): string {
  switch (auth.kind) {
    case 'none':
      return 'Needs no credential.'
    case 'key':
      return `For API keys with the scope \`${area}:${auth.permission}\` or \`${auth.permission}\` and for users of the dashboard, who reach their own organization, and for platform keys and operators, who reach every one.`
    case 'platform':
      return 'For platform keys and operators.'
    case 'operator':
      return `For operators with the role ${auth.role}${auth.role === 'owner' ? '' : ' or a higher one'}.`
    case 'key-or-session':
      return 'For every API key and for sessions of users and operators.'
    case 'dashboard-session':
      return 'For users of the dashboard, about themselves.'
    case 'mailbox-session':
      return 'For the holder of a mailbox, about the own mailbox.'
    case 'mail-program':
      return 'For the holder of a mailbox and for their programs.'
    case 'bootstrap-token':
      return 'Needs the one-time token that the first start writes to the data folder.'
    case 'partial-operator':
      return 'For operators who have given their password and not yet their second factor.'
    case 'internal':
      return 'For the other services of the installation, with the internal token.'
  }
}

const isPaged = (query: unknown): boolean =>
  'per_page' in ((query as { properties?: object } | undefined)?.properties ?? {})
