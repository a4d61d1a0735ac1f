import { defineError } from '../../errors.ts'

export const CollectionNotFound = defineError({ status: 404, message: 'Collection not found' })
export const InvalidConfiguration = defineError<string>({
  status: 400,
  message: (text) => `Invalid configuration: ${text}`,
})
export const CollectionExists = defineError<string>({
  status: 409,
  message: (name) => `The domain already has a collection "${name}"; choose another name`,
})
export const SearchDisabled = defineError({
  status: 409,
  message: 'Search is disabled for this organization; set enabled to true in its configuration',
})
export const TooManyDocuments = defineError<number>({
  status: 409,
  message: (limit) =>
    `The organization may have ${limit} documents (max_documents in its configuration) and would have more`,
})
export const UNAVAILABLE = 'RAG service unavailable'
