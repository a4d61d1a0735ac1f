import type { Core } from '../../core.ts'
import { webHost } from '../../hosting/client-settings.ts'
import { certificateProblem } from '../../hosting/host-certificate.repository.ts'
import { policyText, servedMode } from '../../hosting/mta-sts.ts'
import { isOffered } from '../../hosting/offered-services.repository.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { toMailAddress } from '../../lib/mail-address.ts'
import { appleProfile } from './apple-profile.ts'
import { AddressMissing, DomainNotHosted } from './autoconfig.errors.ts'
import { autodiscoverJson, autodiscoverSettings } from './autodiscover.ts'
import { findHosted } from './hosted.repository.ts'
import { signed } from './sign.ts'
import { findSigner } from './signer.ts'
import { thunderbirdConfig } from './thunderbird.ts'

type Needs = Pick<Core, 'config' | 'db' | 'now'>

export type AutoconfigService = ReturnType<typeof autoconfigService>

/** Settings for mail programs. They depend on the domain alone and say nothing about mailboxes. */
export const autoconfigService = (needs: Needs) => ({
  thunderbird: (address: string | undefined, host: string) => thunderbird(needs, address, host),
  async autodiscover(text: string | undefined): Promise<string> {
    const { address } = await hostedAddress(needs, text)
    return autodiscoverSettings(address, needs.config.SVC_MAIL_HOSTNAME)
  },
  async autodiscoverJson(text: string | undefined, protocol: string) {
    const { domain } = await hostedAddress(needs, text)
    return autodiscoverJson(protocol, needs.config.SVC_MAIL_HOSTNAME, domain)
  },
  async appleProfile(text: string | undefined): Promise<Buffer> {
    const { address } = await hostedAddress(needs, text)
    return profileOf(needs, address)
  },
  mtaSts: (host: string) => mtaSts(needs, host),
})

async function thunderbird(needs: Needs, text: string | undefined, host: string): Promise<string> {
  const { config } = needs
  const domain =
    text === undefined
      ? await hostedName(needs, nameAfter('autoconfig.', host))
      : (await hostedAddress(needs, text)).domain
  const davUrl = (await offersDav(needs)) ? `https://${webHost(config)}/dav/` : undefined
  return thunderbirdConfig({ domain, mailHost: config.SVC_MAIL_HOSTNAME, davUrl })
}

/** A profile for the address, signed when this process can read a certificate with its key. */
export async function profileOf(needs: Needs, address: string): Promise<Buffer> {
  const { config, now } = needs
  const davHost = (await offersDav(needs)) ? webHost(config) : undefined
  const profile = appleProfile({ address, mailHost: config.SVC_MAIL_HOSTNAME, davHost })
  const signer = await findSigner(config, now())
  const content = Buffer.from(profile)
  return signer ? signed(content, signer) : content
}

const offersDav = ({ db }: Needs) => isOffered(db, 'caldav')

/** The policy of the domain whose name follows `mta-sts.` in the name of the host. */
async function mtaSts({ config, db, now }: Needs, host: string): Promise<string> {
  const name = nameAfter('mta-sts.', host)
  const row = name !== undefined && host.startsWith('mta-sts.') && (await findHosted(db, name))
  if (!row) throw new DomainNotHosted()
  const problem = await certificateProblem(db, config.SVC_MAIL_HOSTNAME, now())
  return policyText(servedMode(row, problem), config.SVC_MAIL_HOSTNAME)
}

async function hostedAddress(needs: Needs, text: string | undefined) {
  const address = text === undefined ? undefined : toMailAddress(text)
  if (!address) throw new AddressMissing()
  return { address: address.address, domain: await hostedName(needs, address.domain) }
}

async function hostedName({ db }: Needs, name: string | undefined): Promise<string> {
  const row = name === undefined ? undefined : await findHosted(db, name)
  if (!row) throw new DomainNotHosted()
  return row.domain
}

const nameAfter = (prefix: string, host: string): string | undefined =>
  toDomainName(host.startsWith(prefix) ? host.slice(prefix.length) : host)
