import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { WatchedCache } from '../database/watched-cache.ts'
import { refusedByRules } from '../lib/address-rules.ts'
import type { PasswordHashing } from '../lib/password-hashing.ts'
import { MINUTE_MS } from '../lib/time.ts'
import { sha256 } from '../lib/tokens.ts'
import { AddressNotAllowed } from './access.errors.ts'
import type { AppPasswordScope } from './app-passwords.ts'
import type { MailCredential } from './mail-credentials.ts'
import * as rows from './mail-logins.repository.ts'
import type { Credential } from './program-credentials.ts'
import { loginDimensions, type Throttle } from './throttle.ts'
import { tokenFailures } from './token-failures.ts'

const MAX_CACHED = 10_000
const KEPT_MS = 5 * MINUTE_MS
const MAX_PASSWORD = 1024

interface Needs extends Pick<Core, 'config' | 'db' | 'log' | 'now'> {
  passwords: PasswordHashing
  throttle: Throttle
  isFresh(): boolean
}

/** The login of a program with HTTP Basic. */
interface Sent {
  service: AppPasswordScope
  email: string
  password: string
  ip: string
}

/** A mailbox whose holder has logged in, and with what. */
export interface LoggedIn extends rows.MailAccount {
  credential: MailCredential
}

interface Kept {
  account: LoggedIn
  until: number
}

export type MailLogins = ReturnType<typeof mailLogins>

/**
 * Checks the user name and password of programs that send them with every request, such as calendars.
 * Mail programs log in at Dovecot, which follows the same rules.
 */
export function mailLogins({ config, db, isFresh, log, now, passwords, throttle }: Needs) {
  const wrongTokens = tokenFailures({ config, now })
  // Only this process can compute the keys, so its memory contains no hash of a password that others know.
  const secret = createSecretKey(randomBytes(32))
  const cache = new WatchedCache<Kept>({
    max: MAX_CACHED,
    isConnected: isFresh,
    tagsOf: ({ account }) => [`subject:${account.id}`, `organization:${account.organizationId}`],
  })

  async function check({ service, email, password }: Sent): Promise<Kept | undefined> {
    const until = now().getTime() + KEPT_MS
    const [byApp, account] = await Promise.all([
      rows.findByAppPassword(db, email, sha256(password), service),
      rows.findByAddress(db, email),
    ])
    if (byApp) {
      const { appPasswordId, ...found } = byApp
      return {
        account: { ...found, credential: { kind: 'app_password', id: appPasswordId } },
        until,
      }
    }
    const matches = await passwords.matches(password, account?.passwordHash ?? undefined)
    if (!account || !matches) return undefined
    const { passwordHash, ...found } = account
    const credential = { kind: 'password' as const, mark: sha256(passwordHash ?? '') }
    return { account: { ...found, credential }, until }
  }

  function noteUse({ account: { credential } }: Kept, { service, ip }: Sent): void {
    if (credential.kind !== 'app_password') return
    rows
      .noteAppPasswords(db, [{ id: credential.id, service, ip, at: now() }])
      .catch((error) => log.warn({ err: error }, 'last use of an app password was not stored'))
  }

  const logins = {
    /**
     * Returns the mailbox, or undefined when address or password are wrong, the mailbox is not active, or
     * it has a second factor and this is not an app password. Throws when the caller must wait or when
     * the IP rules of the organization refuse the client. A right password is kept for five minutes,
     * until the mailbox or its passwords change.
     */
    async verify(login: Sent): Promise<LoggedIn | undefined> {
      const sent = { ...login, email: login.email.trim().toLowerCase() }
      if (sent.password === '' || sent.password.length > MAX_PASSWORD) return undefined
      const key = createHmac('sha256', secret)
        .update(`${sent.service}\0${sent.email}\0${sent.password}`)
        .digest('base64')
      const kept = cache.get(key)
      const found =
        kept && kept.until > now().getTime()
          ? kept
          : await throttle.attempt('mail_program', loginDimensions(sent.ip, sent.email), () =>
              cache.load(key, () => check(sent)),
            )
      if (!found) return undefined
      if (refusedByRules(found.account.addressRules, sent.ip)) throw new AddressNotAllowed(sent.ip)
      if (found !== kept) noteUse(found, sent)
      return found.account
    },

    /**
     * The mailbox of an access token with the scope of the service; undefined for any other. A token is
     * random, so a wrong one is not counted as a guess, but too many from one network are refused.
     */
    async verifyToken(sent: {
      service: AppPasswordScope
      token: string
      ip: string
    }): Promise<LoggedIn | undefined> {
      wrongTokens.refuseMany(sent.ip)
      const tokenHash = sha256(sent.token)
      const found = await rows.findByToken(db, tokenHash, sent.service, now())
      if (!found) {
        wrongTokens.add(sent.ip)
        return undefined
      }
      const { grantId, ...account } = found
      if (refusedByRules(account.addressRules, sent.ip)) throw new AddressNotAllowed(sent.ip)
      rows
        .noteGrants(db, [{ id: grantId, service: sent.service, ip: sent.ip, at: now() }])
        .catch((error) => log.warn({ err: error }, 'last use of a grant was not stored'))
      return { ...account, credential: { kind: 'grant', id: grantId, tokenHash } }
    },

    /** The mailbox of a credential of either kind. */
    verifyCredential(credential: Credential, service: AppPasswordScope, ip: string) {
      return credential.scheme === 'basic'
        ? logins.verify({ service, email: credential.email, password: credential.password, ip })
        : logins.verifyToken({ service, token: credential.token, ip })
    },

    /** True while a holder who has logged in may go on, for connections that stay open. */
    async isStillRight(
      holderId: string,
      credential: MailCredential,
      { service, ip, db: on = db }: { service: AppPasswordScope; ip: string; db?: Db },
    ): Promise<boolean> {
      const account = await rows.findByCredential(on, holderId, credential, service, now())
      return account !== undefined && !refusedByRules(account.addressRules, ip)
    },

    evict: (change: string) => cache.evict(change),
    evictAll: () => cache.evictAll(),
  }
  return logins
}
