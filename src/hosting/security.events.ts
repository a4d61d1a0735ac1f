import { Type } from 'typebox'
import { defineEvent } from '../events/events.ts'

const Login = {
  user: Type.String(),
  ip_address: Type.String(),
  protocol: Type.String(),
}

export const LoginSucceeded = defineEvent('auth.login.success', {
  source: 'dovecot',
  summary: 'A login to a mail server succeeded',
  data: Type.Object(Login),
})

export const LoginFailed = defineEvent('auth.login.failure', {
  source: 'dovecot',
  summary: 'A login to a mail server failed',
  data: Type.Object(Login),
})

export const BruteForce = defineEvent('security.brute_force', {
  source: 'dovecot',
  summary: 'So many logins failed that more are refused for a while',
  data: Type.Object({
    ...Login,
    failure_count: Type.Integer(),
    block_duration_secs: Type.Integer(),
    block_type: Type.String({
      description:
        'ip: the address for all accounts; user: this account from this address; account: this account from every address that it has not logged in from',
    }),
  }),
})

export const AddressBlocked = defineEvent('security.ip.blocked', {
  source: 'postfix',
  summary: 'An address was refused by a rule, a geo policy, after failed logins or by an operator',
  data: Type.Object({
    ip_address: Type.String(),
    domain: Type.String(),
    rule_type: Type.String({
      description: 'blacklist, whitelist_miss, geo, brute_force or operator_block',
    }),
    cidr: Type.Optional(Type.String({ description: 'the rule that matched' })),
    country: Type.Optional(Type.String()),
    action: Type.Optional(Type.String({ description: 'of the geo policy' })),
  }),
})

export const CountryBlocked = defineEvent('security.geo.blocked', {
  source: 'geo_blocking',
  summary: 'The geo policy of an organization matched a client that has logged in',
  data: Type.Object({
    ip_address: Type.String(),
    country: Type.Union([Type.String({ examples: ['FR'] }), Type.Null()]),
    user: Type.String(),
    reason: Type.String({ description: 'country or hour', examples: ['country'] }),
    action: Type.String({ description: 'block, challenge or log_only', examples: ['block'] }),
  }),
})
