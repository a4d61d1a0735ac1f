import { defineError } from '../../../errors.ts'

export const GeoPolicyNotFound = defineError({ status: 404, message: 'Geo policy not found' })
export const GeoPolicyExists = defineError({
  status: 409,
  message: 'The organization already has a geo policy; change that one',
})
