import { Unprocessable } from '../../../errors.ts'
import { SUPPRESSION_TYPES } from '../../../hosting/suppressions.repository.ts'

export const organizationMissing = () =>
  new Unprocessable('organization_id is required for platform-scope callers')
export const unknownType = () =>
  new Unprocessable(`suppression_type must be one of ${SUPPRESSION_TYPES.join(', ')}`)
export const tooManyAddresses = (limit: number, count: number) =>
  new Unprocessable(`At most ${limit} emails per call (${count} supplied)`)
