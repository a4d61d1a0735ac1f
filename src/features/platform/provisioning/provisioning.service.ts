import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import * as provisioning from './provisioning.repository.ts'

export const ResourceNotFound = defineError({ status: 404, message: 'Resource not found' })
export const NotFailed = defineError({
  status: 409,
  message: 'Resource is not in a failed provisioning state',
})

export type ProvisioningService = ReturnType<typeof provisioningService>

export const provisioningService = ({ change, db }: Pick<Core, 'change' | 'db'>) => ({
  async failures(filter: provisioning.FailureFilter, page: Page) {
    const { items, total } = await provisioning.failures(db, filter, page)
    return paginated(items, total, page)
  },

  retry: (caller: Caller, resource_type: provisioning.ResourceType, id: string) =>
    change(caller, async (tx) => {
      if (!(await provisioning.exists(tx, resource_type, id))) throw new ResourceNotFound()
      if (!(await provisioning.retry(tx, resource_type, id))) throw new NotFailed()
      return { resource_type, id, status: 'pending' as const }
    }),
})
