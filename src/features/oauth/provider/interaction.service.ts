import type Provider from 'oidc-provider'
import { AddressNotAllowed, TooManyAttempts } from '../../../access/access.errors.ts'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { ServiceUnavailable } from '../../../errors.ts'
import { brandOf } from '../../../hosting/brand.repository.ts'
import { type Account, holderCheck } from '../../mailbox-auth/holder-check.ts'
import { findForProvider } from '../clients/clients.repository.ts'
import { findHolder } from './accounts.repository.ts'
import type { Problem } from './interaction.pages.ts'

const PURPOSE = 'oauth sign-in'
const PROOF_MS = 5 * 60_000

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'imapLogin' | 'now' | 'vault'>

type SignIn = { accountId: string } | { proof: string } | { problem: Problem }

export type InteractionService = ReturnType<typeof interactionService>

/** Signs holders in and stores what they allow. */
export function interactionService(core: Needs) {
  const { change, db, now, vault } = core
  const holders = holderCheck(core)

  /** A program of one organization is for its mailboxes only. */
  async function mayUse(clientId: string, accountId: string): Promise<boolean> {
    const [client, holder] = await Promise.all([
      findForProvider(db, clientId),
      findHolder(db, accountId),
    ])
    if (!client || !holder) return false
    return client.organization_id === null || client.organization_id === holder.organization_id
  }

  async function signedIn(caller: Caller, clientId: string, account: Account): Promise<SignIn> {
    if (account.must_change_password) return { problem: 'mustChange' }
    if (!(await mayUse(clientId, account.id))) return { problem: 'foreign' }
    await change(caller, (tx) => holders.noteLogin(tx, account.id, now()))
    return { accountId: account.id }
  }

  const proofOf = (uid: string, email: string) =>
    vault
      .seal(PURPOSE, JSON.stringify({ uid, email, until: now().getTime() + PROOF_MS }))
      .toString('base64url')

  function provenEmail(uid: string, proof: string): string | undefined {
    try {
      const text = vault.open(PURPOSE, Buffer.from(proof, 'base64url'))
      const { until, ...proven } = JSON.parse(text) as { uid: string; email: string; until: number }
      return proven.uid === uid && until > now().getTime() ? proven.email : undefined
    } catch {
      return undefined
    }
  }

  return {
    mayUse,

    /** The facts about a program on the pages; undefined when it was deleted meanwhile. */
    async program(clientId: string) {
      const client = await findForProvider(db, clientId)
      if (!client) return undefined
      const { grant_types, name, organization_id } = client
      const brand = organization_id === null ? {} : await brandOf(db, organization_id)
      return { name, brand, keepsAccess: grant_types.includes('refresh_token') }
    },

    /** The first step: address and password. */
    signIn: (caller: Caller, uid: string, clientId: string, email: string, password: string) =>
      withProblems(async () => {
        const checked = await holders.check(caller, { email_address: email, password })
        if (!checked) return { problem: 'wrong' }
        if (checked.needsCode) return { proof: proofOf(uid, checked.account.email) }
        return signedIn(caller, clientId, checked.account)
      }),

    /** The second step, for a mailbox with a second factor. */
    enterCode: (caller: Caller, uid: string, clientId: string, proof: string, code: string) =>
      withProblems(async () => {
        const email = provenEmail(uid, proof)
        const account = email && (await holders.checkCode(caller, email, code))
        return account ? signedIn(caller, clientId, account) : { problem: 'wrongCode' }
      }),

    emailOf: async (accountId: string) => (await findHolder(db, accountId))?.email,

    /** Stores what the holder allows, and returns the id of the grant. */
    async grant(provider: Provider, { grantId, params, prompt, session }: Interaction) {
      const found = grantId ? await provider.Grant.find(grantId) : undefined
      const grant =
        found ??
        new provider.Grant({
          accountId: session?.accountId as string,
          clientId: params.client_id as string,
        })
      const missing = prompt.details.missingOIDCScope as string[] | undefined
      if (missing) grant.addOIDCScope(missing.join(' '))
      const claims = prompt.details.missingOIDCClaims as string[] | undefined
      if (claims) grant.addOIDCClaims(claims)
      return grant.save()
    },
  }
}

/** Turns refusals into words for the page. */
async function withProblems(work: () => Promise<SignIn>): Promise<SignIn> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TooManyAttempts) return { problem: 'wait' }
    if (error instanceof AddressNotAllowed) return { problem: 'network' }
    if (error instanceof ServiceUnavailable) return { problem: 'unavailable' }
    throw error
  }
}
