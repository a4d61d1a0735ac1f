import { InvalidLogin } from '../../access/access.errors.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { holderCheck, type Login } from './holder-check.ts'
import * as accounts from './mailbox-auth.repository.ts'

type Needs = Pick<Core, 'access' | 'change' | 'db' | 'imapLogin' | 'now'>

export type MailboxAuthService = ReturnType<typeof mailboxAuthService>

export function mailboxAuthService({ access, change, db, imapLogin, now }: Needs) {
  const holders = holderCheck({ access, db, imapLogin })

  return {
    async login(caller: Caller, body: Login, clientPlatform: string | null) {
      const verified = await holders.check(caller, body)
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

    /** Idempotent. */
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
