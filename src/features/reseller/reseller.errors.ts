import { defineError } from '../../errors.ts'

export const ParentNotFound = defineError({
  status: 404,
  message: 'Parent organization not found',
})
export const SubOrganizationNotFound = defineError({
  status: 404,
  message: 'Sub-organization not found',
})
export const ParentSuspended = defineError({
  status: 409,
  message: 'Parent organization is suspended; activate it first',
})
export const ParentIsSubOrganization = defineError({
  status: 409,
  message: 'A sub-organization cannot have sub-organizations',
})
export const ParentLimitExceeded = defineError<{ left: number }>({
  status: 400,
  message: ({ left }) =>
    `The parent organization has ${left} bytes left to give; raise its storage quota first`,
})
export const PlanBelowUse = defineError<{ what: string; used: number }>({
  status: 400,
  message: ({ what, used }) => `${what} cannot be below the ${used} already in use`,
})
export const NoPlanFields = defineError({
  status: 400,
  message: 'No updatable fields provided',
})
