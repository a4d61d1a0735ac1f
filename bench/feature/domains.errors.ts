import { defineError } from '../../src/errors.ts'

export const DomainNotFound = defineError({ status: 404, message: 'Domain not found' })
export const DomainAlreadyExists = defineError({ status: 409, message: 'Domain already exists' })
