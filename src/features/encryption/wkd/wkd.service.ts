import type { Core } from '../../../core.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import * as directory from './wkd.repository.ts'

export interface WkdCounts {
  found: number
  missing: number
}

export type WkdService = ReturnType<typeof wkdService>

/** Keys for programs of other people. The direct method names the domain by the host, the advanced one by both. */
export function wkdService({ db, now }: Pick<Core, 'db' | 'now'>, counts: WkdCounts) {
  async function hosted(hostname: string, path: string | undefined) {
    const host = toDomainName(hostname)
    const domain = path === undefined ? host : toDomainName(path)
    if (domain === undefined) return undefined
    if (path !== undefined && host !== `openpgpkey.${domain}`) return undefined
    return directory.findDomain(db, domain)
  }

  return {
    isHosted: async (hostname: string, path?: string): Promise<boolean> =>
      (await hosted(hostname, path)) !== undefined,

    async key(hostname: string, path: string | undefined, hash: string) {
      const domain = await hosted(hostname, path)
      const key = domain && (await directory.findPublished(db, domain.id, hash, now()))
      counts[key ? 'found' : 'missing']++
      return key
    },
  }
}
