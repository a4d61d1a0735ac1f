import { settingsPerOrganization } from '../../../content/settings-cache.ts'
import type { Mail, Outcome, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { protectsLinks } from '../../../hosting/link-protection.repository.ts'
import { linkProtection } from './protect-links.ts'

type Needs = Pick<Core, 'config' | 'db' | 'listen' | 'log' | 'vault' | 'workers'>

/** Leads the links of incoming mail over this service, for organizations that ask for it. */
export function urlProtectionStage(core: Needs): Stage {
  const settings = settingsPerOrganization(
    core,
    'mailplane_url_settings',
    async (organization) => ({
      isOn: await protectsLinks(core.db, organization),
    }),
  )
  const protect = linkProtection(
    core,
    async (organization) => (await settings.of(organization)).isOn,
  )

  return {
    name: 'url-protection',
    async apply(mail: Mail): Promise<Outcome> {
      if (mail.direction !== 'inbound') return { kind: 'pass', mails: [mail] }
      const message = await protect(mail.message, mail.organizationId)
      return { kind: 'pass', mails: [message === mail.message ? mail : { ...mail, message }] }
    },
    stop: () => settings.close(),
  }
}
