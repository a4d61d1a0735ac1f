import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import type { Authorization, Client } from 'acme-client'
import type { Config } from '../../../config/index.ts'
import { StartupError } from '../../../startup-error.ts'

const REQUEST_MS = 30_000

export interface Wanted {
  names: string[]
  email: string
  accountKey: string
  /** The key of the certificate; unset: a new one. */
  key?: string | undefined
  /** The names that are proven by a DNS record; all others are proven over HTTP. */
  byDns: ReadonlySet<string>
  /** Publishes the answer to a challenge until `hide` is called. */
  show(challenge: Challenge): Promise<unknown>
  hide(challenge: Challenge): Promise<unknown>
}

export interface Challenge {
  type: 'http-01' | 'dns-01'
  name: string
  token: string
  /** The content of the page, or of the TXT record. */
  answer: string
}

export interface Issued {
  key: string
  /** The certificate, then the intermediate certificates. */
  chain: string
}

export type CertificateAuthority = ReturnType<typeof certificateAuthority>

/** Obtains certificates from a CA (RFC 8555) with HTTP-01 and DNS-01 challenges. */
export function certificateAuthority({ ACME_CA_FILE }: Pick<Config, 'ACME_CA_FILE'>) {
  const agent = ACME_CA_FILE === undefined ? undefined : new Agent({ ca: trusted(ACME_CA_FILE) })
  /** Loaded on first use, because most processes never need it. */
  const library = async () => {
    const { default: acme } = await import('acme-client')
    acme.axios.defaults.timeout = REQUEST_MS
    acme.axios.defaults.httpsAgent = agent
    return acme
  }

  return {
    async newAccountKey(): Promise<string> {
      const acme = await library()
      return (await acme.crypto.createPrivateEcdsaKey()).toString()
    },

    async obtain(directoryUrl: string, wanted: Wanted): Promise<Issued> {
      const { names, email, accountKey } = wanted
      const acme = await library()
      const client = new acme.Client({
        directoryUrl,
        accountKey,
        backoffAttempts: 30,
        backoffMin: 1000,
        backoffMax: 10_000,
      })
      const key = wanted.key ?? (await acme.crypto.createPrivateEcdsaKey()).toString()
      const [, csr] = await acme.crypto.createCsr({ altNames: names }, key)
      await client.createAccount({ termsOfServiceAgreed: true, contact: [`mailto:${email}`] })
      const order = await client.createOrder({
        identifiers: names.map((value) => ({ type: 'dns', value })),
      })
      const authorizations = await client.getAuthorizations(order)
      const proofs = authorizations
        .filter(({ status }) => status !== 'valid')
        .map((authorization) => prove(client, authorization, wanted))
      // Waits for all of them even after a failure, so that no answer stays published.
      const failed = (await Promise.allSettled(proofs)).find(({ status }) => status === 'rejected')
      if (failed) throw (failed as PromiseRejectedResult).reason
      const chain = await client.getCertificate(await client.finalizeOrder(order, csr))
      return { key, chain }
    },
  }
}

/**
 * Proves one name. The answer is not fetched first, as a request from this host to itself does not
 * show that the CA can reach it.
 */
async function prove(
  client: Client,
  authorization: Authorization,
  { byDns, show, hide }: Wanted,
): Promise<void> {
  const name = authorization.identifier.value
  const type = byDns.has(name) ? 'dns-01' : 'http-01'
  const offered = authorization.challenges.find((one) => one.type === type)
  if (!offered) throw new Error(`the CA does not offer ${type} for ${name}`)
  const answer = await client.getChallengeKeyAuthorization(offered)
  const challenge: Challenge = { type, name, token: offered.token, answer }
  let isSent = false
  try {
    await show(challenge)
    isSent = true
    await client.completeChallenge(offered)
    await client.waitForValidStatus(offered)
  } finally {
    // The response is of no use once the CA has read it.
    await hide(challenge).catch(() => {})
    // CAs limit the number of authorizations that are still open.
    if (!isSent) await client.deactivateAuthorization(authorization).catch(() => {})
  }
}

function trusted(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new StartupError(
      `ACME_CA_FILE ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}
