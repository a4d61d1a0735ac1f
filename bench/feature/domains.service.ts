import type { Caller } from '../../src/access/caller.ts'
import type { Core } from '../../src/core.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { DomainAlreadyExists, DomainNotFound } from './domains.errors.ts'
import * as domains from './domains.repository.ts'

type Needs = Pick<Core, 'change' | 'db'>

export type BenchDomainService = ReturnType<typeof benchDomainService>

export const benchDomainService = ({ change, db }: Needs) => ({
  async get(caller: Caller, id: string) {
    const domain = await domains.find(db, caller.scope, id)
    if (!domain) throw new DomainNotFound()
    return domain
  },

  create: (caller: Caller, body: { domain: string }) =>
    change(caller, async (tx) => {
      const organization_id = caller.organizationId as string
      const created = await domains.insert(tx, { id: ulid(), organization_id, ...body })
      if (!created) throw new DomainAlreadyExists()
      return created
    }),
})
