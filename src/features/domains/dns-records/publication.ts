import { getDomain } from 'tldts'
import type { Core } from '../../../core.ts'
import { webHost } from '../../../hosting/client-settings.ts'
import { certificateProblem } from '../../../hosting/host-certificate.repository.ts'
import { policyId, policyText, servedMode } from '../../../hosting/mta-sts.ts'
import { isOffered } from '../../../hosting/offered-services.repository.ts'
import { listOf } from '../dkim/dkim.repository.ts'
import type { Publication } from '../dns-records.ts'
import type { DomainRow } from '../domains.repository.ts'
import { tokenOf } from '../ownership/ownership.repository.ts'

/** CAs whose CAA name is not the name of their ACME server. */
const CAA_NAMES: Record<string, string> = { 'zerossl.com': 'sectigo.com' }

type Needs = Pick<Core, 'config' | 'db' | 'now'>

/** Collected on each read, because keys, policy and services change. */
export async function publicationOf(
  { config, db, now }: Needs,
  row: DomainRow,
): Promise<Publication> {
  const mailHost = config.SVC_MAIL_HOSTNAME
  const [keys, token, problem, offersDav, offersJmap, offersKeys] = await Promise.all([
    row.dkim_enabled ? listOf(db, row.id) : [],
    tokenOf(db, row.organization_id),
    certificateProblem(db, mailHost, now()),
    isOffered(db, 'caldav'),
    isOffered(db, 'jmap'),
    isOffered(db, 'encryption'),
  ])
  return {
    domain: row.domain,
    mailHost,
    webHost: webHost(config),
    token,
    dkimKey: keys.find(({ active }) => active),
    otherKeys: keys.filter(({ active }) => !active),
    policyId: policyId(policyText(servedMode(row, problem), mailHost)),
    ca: caaName(config.ACME_DIRECTORY_URL),
    offersDav,
    offersJmap,
    offersKeys,
  }
}

function caaName(directoryUrl: string | undefined): string | undefined {
  const registered = directoryUrl && getDomain(new URL(directoryUrl).hostname)
  return registered ? (CAA_NAMES[registered] ?? registered) : undefined
}
