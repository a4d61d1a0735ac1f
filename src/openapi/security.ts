import type { Auth } from '../access/labels.ts'

export const securitySchemes = {
  ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
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
  MailboxToken: { type: 'http', scheme: 'bearer' },
  BootstrapToken: { type: 'apiKey', in: 'header', name: 'X-Bootstrap-Token' },
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
  internal: [],
}

/** Any one of these will do. */
export const securityOf = ({ kind }: Auth): Record<string, never[]>[] =>
  schemes[kind].map((scheme) => ({ [scheme]: [] }))
