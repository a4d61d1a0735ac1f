import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import type { Config } from '../../../config.ts'
import { StartupError } from '../../../startup-error.ts'

const REQUEST_MS = 30_000

export interface Wanted {
  names: string[]
  email: string
  accountKey: string
  /** Shows the CA what it looks for, until `hide`. */
  show(token: string, keyAuthorization: string): Promise<unknown>
  hide(token: string): Promise<unknown>
}

export interface Issued {
  key: string
  /** The certificate first, then what leads to the CA. */
  chain: string
}

export type CertificateAuthority = ReturnType<typeof certificateAuthority>

/** Asks a CA for certificates (RFC 8555), proving each name over HTTP. */
export function certificateAuthority({ ACME_CA_FILE }: Pick<Config, 'ACME_CA_FILE'>) {
  const agent = ACME_CA_FILE === undefined ? undefined : new Agent({ ca: trusted(ACME_CA_FILE) })
  /** Loaded when it is first needed: most starts never need it. */
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
      const { names, email, accountKey, show, hide } = wanted
      const acme = await library()
      const client = new acme.Client({
        directoryUrl,
        accountKey,
        backoffAttempts: 30,
        backoffMin: 1000,
        backoffMax: 10_000,
      })
      const key = await acme.crypto.createPrivateEcdsaKey()
      const [, csr] = await acme.crypto.createCsr({ altNames: names }, key)
      const chain = await client.auto({
        csr,
        email,
        termsOfServiceAgreed: true,
        // Whether we can reach ourselves says little about whether the CA can.
        skipChallengeVerification: true,
        challengePriority: ['http-01'],
        async challengeCreateFn(_authorization, { type, token }, keyAuthorization) {
          if (type !== 'http-01') throw new Error(`the CA offers ${type} only, not http-01`)
          await show(token, keyAuthorization)
        },
        challengeRemoveFn: (_authorization, { token }) => hide(token),
      })
      return { key: key.toString(), chain }
    },
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
