import { defineError } from '../../errors.ts'

export const TemplateNotFound = defineError({ status: 404, message: 'Template not found' })

export const VersionNotFound = defineError({ status: 404, message: 'Version not found' })

/** The message says which field, variable or set is at fault. */
export const TemplateRefused = defineError<string>({ status: 400, message: (text) => text })

export const TemplatesFull = defineError<{ limit_mb: number }>({
  status: 409,
  code: 'TEMPLATES_FULL',
  message: ({ limit_mb }) =>
    `The templates of an organization and their versions have at most ${limit_mb} MB; delete some first`,
  data: ({ limit_mb }) => ({ limit_mb }),
})

export const OrganizationRequired = defineError({
  status: 400,
  message: 'organization_id is required: say whose template it is',
})
