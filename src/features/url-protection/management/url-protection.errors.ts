import { defineError } from '../../../errors.ts'

export const NoPublicUrl = defineError({
  status: 503,
  message: 'Link protection is not configured; set SVC_PUBLIC_URL',
})

export const OrganizationRequired = defineError({
  status: 400,
  message: 'organization_id is required: say whose links are meant',
})

export const EntryNotFound = defineError({ status: 404, message: 'Entry not found' })

export const EntryExists = defineError({
  status: 409,
  code: 'URL_ENTRY_EXISTS',
  message: 'The list has this entry already',
})

export const ListFull = defineError<{ limit: number }>({
  status: 409,
  code: 'URL_LIST_FULL',
  message: ({ limit }) => `The list has at most ${limit} entries of this kind; delete one first`,
  data: ({ limit }) => ({ limit }),
})
