import type { Core } from '../../../core.ts'
import { protectsLinks } from '../../../hosting/link-protection.repository.ts'
import { bufferOf, forThread } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { linkRewriter } from './rewriter.ts'

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'vault' | 'workers'>

/**
 * Leads the links of a message for one organization over this service, if it asks for it. A message
 * that cannot be changed stays as it is: a delivered message is worth more than a checked link.
 */
export function linkProtection(
  core: Needs,
  isOn: (organizationId: string) => Promise<boolean> = (id) => protectsLinks(core.db, id),
) {
  const rewrite = linkRewriter(core)
  return async (message: MimeMessage, organizationId: string): Promise<MimeMessage> => {
    if (core.config.SVC_PUBLIC_URL === undefined || !(await isOn(organizationId))) return message
    try {
      const done = await rewrite(forThread(message.raw), organizationId)
      return done?.message ? new MimeMessage(bufferOf(done.message)) : message
    } catch (error) {
      core.log.error(
        { err: error, organizationId, alert: true },
        'links of a message stay as they are',
      )
      return message
    }
  }
}
