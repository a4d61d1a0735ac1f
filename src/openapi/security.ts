import type { Auth } from '../access/labels.ts'

/** In the order of the authorize dialog of /docs: most readers need the first ones. */
export const securitySchemes = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The key of an organization, or of the platform',
  },
  DashboardSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description: 'Writes also echo the cookie svc_csrf as X-CSRF-Token',
  },
  OperatorSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_operator_session',
    description: 'Writes also echo the cookie svc_operator_csrf as X-CSRF-Token',
  },
  MailboxSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_mailbox_session',
    description: 'Writes also echo the cookie svc_mailbox_csrf as X-CSRF-Token',
  },
  MailboxToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that a mailbox login returns to native clients',
  },
  BootstrapToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Bootstrap-Token',
    description: 'For the first organization or the first operator; works once',
  },
  InternalToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Internal-Token',
    description: 'For other services of the installation',
  },
  InternalBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The internal token, for clients that cannot set other headers',
  },
}

type Scheme = keyof typeof securitySchemes

const schemes: Record<Auth['kind'], Scheme[]> = {
  none: [],
  key: ['ApiKey', 'DashboardSession', 'OperatorSession'],
  platform: ['ApiKey', 'OperatorSession'],
  operator: ['OperatorSession'],
  'key-or-session': ['ApiKey', 'DashboardSession', 'OperatorSession'],
  'dashboard-session': ['DashboardSession'],
  'mailbox-session': ['MailboxSession', 'MailboxToken'],
  'bootstrap-token': ['BootstrapToken'],
  'partial-operator': ['OperatorSession'],
  internal: ['InternalToken', 'InternalBearer'],
  'mail-program': ['MailboxSession', 'MailboxToken'],
}

/** The security schemes of a route; one of them is enough. */
export const securityOf = ({ kind }: Auth): Record<string, never[]>[] =>
  schemes[kind].map((scheme) => ({ [scheme]: [] }))
