import type { Credential } from '../../../access/program-credentials.ts'
import type { Core } from '../../../core.ts'
import type { Holder } from './holder.ts'

export type Login = ReturnType<typeof davLogin>

/** Checks the credentials of DAV requests: passwords of mailboxes, app passwords and access tokens. */
export function davLogin({ access: { mailLogins } }: Pick<Core, 'access'>) {
  const counts = { accepted: 0, refused: 0 }

  return {
    counts,
    /** Undefined when the credential is wrong; throws when the caller must wait or may not come. */
    async holderOf(credential: Credential, ip: string): Promise<Holder | undefined> {
      const account = await mailLogins.verifyCredential(credential, 'dav', ip)
      counts[account ? 'accepted' : 'refused']++
      if (!account) return undefined
      const { id, organizationId, email, name } = account
      return { id, organization_id: organizationId, email, name }
    },
  }
}
