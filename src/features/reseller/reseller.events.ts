import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'
import { Nullable } from '../../http/envelope.ts'

export const ResellerAccountCreated = defineEvent('reseller.account.created', {
  source: 'api',
  summary: 'A reseller opened an organization for a customer',
  data: Type.Object({
    organization_id: Type.String(),
    parent_org_id: Type.String(),
    name: Type.String(),
    admin_email: Nullable(Type.String()),
    plan_name: Type.String(),
  }),
})

export const ResellerAccountSuspended = defineEvent('reseller.account.suspended', {
  source: 'api',
  summary: "A reseller suspended a customer's organization",
  data: Type.Object({
    organization_id: Type.String(),
    parent_org_id: Type.String(),
    name: Type.String(),
  }),
})
