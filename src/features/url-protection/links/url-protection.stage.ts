import { settingsPerOrganization } from '../../../content/settings-cache.ts'
import type { Mail, Outcome, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { protectsLinks } from '../../../hosting/link-protection.repository.ts'
import { bufferOf, forThread } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { linkRewriter } from './rewriter.ts'

type Needs = Pick<Core, 'config' | 'db' | 'listen' | 'log' | 'vault' | 'workers'>

/**
 * Leads the links of incoming mail over this service, for organizations that ask for it. Mail that
 * cannot be changed is passed on unchanged: a delivered message is worth more than a checked link.
 */
export function urlProtectionStage(core: Needs): Stage {
  const { config, db, log } = core
  const settings = settingsPerOrganization(
    core,
    'mailplane_url_settings',
    async (organization) => ({
      isOn: await protectsLinks(db, organization),
    }),
  )

  const rewrite = linkRewriter(core)

  async function rewritten({ message, organizationId }: Mail): Promise<MimeMessage | undefined> {
    const done = await rewrite(forThread(message.raw), organizationId)
    return done?.message && new MimeMessage(bufferOf(done.message))
  }

  return {
    name: 'url-protection',
    async apply(mail: Mail): Promise<Outcome> {
      const isProtected =
        mail.direction === 'inbound' &&
        config.SVC_PUBLIC_URL !== undefined &&
        (await settings.of(mail.organizationId)).isOn
      if (!isProtected) return { kind: 'pass', mails: [mail] }
      const message = await rewritten(mail).catch((error) => {
        const { organizationId } = mail
        log.error(
          { err: error, organizationId, alert: true },
          'links of a message stay as they are',
        )
        return undefined
      })
      return { kind: 'pass', mails: [message ? { ...mail, message } : mail] }
    },
    stop: () => settings.close(),
  }
}
