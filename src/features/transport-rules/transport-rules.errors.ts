import { defineError } from '../../errors.ts'

export const TransportRuleNotFound = defineError({
  status: 404,
  message: 'Transport rule not found',
})

export const OrganizationRequired = defineError({
  status: 400,
  message: 'organization_id is required: say whose mail the rule is for',
})

export const TooManyRules = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_TRANSPORT_RULES',
  message: ({ limit }) => `An organization has at most ${limit} transport rules; delete one first`,
  data: ({ limit }) => ({ limit }),
})

export const RulesTooLarge = defineError<{ limit_bytes: number }>({
  status: 409,
  code: 'TRANSPORT_RULES_TOO_LARGE',
  message: ({ limit_bytes }) =>
    `The transport rules of an organization have at most ${limit_bytes} bytes together; shorten or delete some`,
  data: ({ limit_bytes }) => ({ limit_bytes }),
})
