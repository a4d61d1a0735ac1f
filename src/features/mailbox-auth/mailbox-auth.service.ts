import { InvalidLogin } from '../../access/access.errors.ts'
import type { Caller } from '../../access/caller.ts'
import { loginDimensions } from '../../access/throttle.ts'
import type { Core } from '../../core.ts'
import * as accounts from './mailbox-auth.repository.ts'

interface Login {
  email_address: string
  password: string
  two_factor_code?: string
}

type Account = NonNullable<Awaited<ReturnType<typeof accounts.findActiveAccount>>>

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'imapLogin' | 'now'>

export type MailboxAuthService = ReturnType<typeof mailboxAuthService>

export function mailboxAuthService({ access, change, db, imapLogin, now }: Needs) {
  /** Undefined for any wrong part, so that nobody can tell which one it was. */
  async function verify(
    login: Login,
    client: string,
  ): Promise<{ account: Account; needsCode: boolean } | undefined> {
    // The mail server is asked for unknown addresses too: the answer takes the same time.
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
    async login(caller: Caller, body: Login, clientPlatform: string | null) {
      const email_address = body.email_address.trim().toLowerCase()
      const verified = await access.throttle.attempt(
        'webmail',
        loginDimensions(caller.ip, email_address),
        () => verify({ ...body, email_address }, caller.ip),
        // The password alone does not clear what wrong codes have counted.
        { clears: ({ needsCode }) => !needsCode },
      )
      if (!verified) throw new InvalidLogin()
      if (verified.needsCode) return { cookies: [], data: { two_factor_required: true as const } }
      const { account } = verified
      const session = await change(caller, async (tx) => {
        await accounts.setLastLogin(tx, account.id, now())
        return access.sessions.open(tx, 'mailbox', account.id, caller, { clientPlatform })
      })
      return {
        cookies: access.sessions.cookies(session),
        data: {
          token: session.token,
          csrf_token: session.csrfToken,
          expires_at: session.absoluteExpiry.toISOString(),
          email_address: account.email,
          email_account: { id: account.id, email_address: account.email, name: account.name },
          must_change_password: account.must_change_password,
          password_change_reason: account.password_change_reason,
          client_platform: clientPlatform,
          idle_timeout_seconds: session.idleSeconds,
        },
      }
    },

    /** May be repeated: a session that is over stays over. */
    async logout(caller: Caller): Promise<string[]> {
      const { session } = caller
      if (session) {
        await change(caller, (tx) => access.sessions.revoke(tx, session.id))
        await access.settled()
      }
      return access.sessions.clearedCookies('mailbox')
    },
  }
}
