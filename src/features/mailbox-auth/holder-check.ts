import { AddressNotAllowed } from '../../access/access.errors.ts'
import { findMailboxRules } from '../../access/address-rules.repository.ts'
import type { Caller } from '../../access/caller.ts'
import { loginDimensions } from '../../access/throttle.ts'
import type { Core } from '../../core.ts'
import { refusedByRules } from '../../lib/address-rules.ts'
import { domainOf } from '../../lib/mail-address.ts'
import * as accounts from './mailbox-auth.repository.ts'

export interface Login {
  email_address: string
  password: string
  two_factor_code?: string
}

export type Account = NonNullable<Awaited<ReturnType<typeof accounts.findActiveAccount>>>

export interface Checked {
  account: Account
  needsCode: boolean
}

type Needs = Pick<Core, 'access' | 'db' | 'imapLogin'>

export type HolderCheck = ReturnType<typeof holderCheck>

/** Password and second factor of a mailbox holder, with IP rules and throttles. */
export function holderCheck({ access, db, imapLogin }: Needs) {
  /** Returns undefined whichever part is wrong, so that a caller cannot tell which. */
  async function verify(login: Login, client: string): Promise<Checked | undefined> {
    // Unknown addresses are verified too, so that the response takes the same time.
    const [account, passwordIsRight] = await Promise.all([
      accounts.findActiveAccount(db, login.email_address),
      imapLogin(login.email_address, login.password, client),
    ])
    if (!account || !passwordIsRight) return undefined
    const holder = { kind: 'mailbox' as const, id: account.id }
    if (!(await access.twoFactor.isEnrolled(db, holder))) return { account, needsCode: false }
    if (!login.two_factor_code) return { account, needsCode: true }
    const codeIsRight = await access.twoFactor.spend(db, holder, login.two_factor_code)
    return codeIsRight ? { account, needsCode: false } : undefined
  }

  return {
    async check(caller: Caller, body: Login): Promise<Checked | undefined> {
      const email_address = body.email_address.trim().toLowerCase()
      // Dovecot would refuse the address too, and that would count as a wrong password here. The
      // answer depends on the domain alone, so it does not show which mailboxes exist.
      const rules = await findMailboxRules(db, domainOf(email_address))
      if (refusedByRules(rules, caller.ip)) throw new AddressNotAllowed(caller.ip)
      return access.throttle.attempt(
        'webmail',
        loginDimensions(caller.ip, email_address),
        () => verify({ ...body, email_address }, caller.ip),
        // A correct password does not reset the count of wrong codes.
        { clears: ({ needsCode }) => !needsCode },
      )
    },

    noteLogin: accounts.setLastLogin,

    /** The code alone, for a holder whose password was right a moment ago. */
    async checkCode(caller: Caller, email: string, code: string): Promise<Account | undefined> {
      return access.throttle.attempt('webmail', loginDimensions(caller.ip, email), async () => {
        const account = await accounts.findActiveAccount(db, email)
        if (!account) return undefined
        const holder = { kind: 'mailbox' as const, id: account.id }
        return (await access.twoFactor.spend(db, holder, code)) ? account : undefined
      })
    },
  }
}
