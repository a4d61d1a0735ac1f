import { publicUrl } from '../config/index.ts'
import type { Core } from '../core.ts'
import type { Db, Tx } from '../database/database.ts'
import { HOUR_MS } from '../lib/time.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'
import * as rows from './account-links.repository.ts'

export type { LinkKind, Person } from './account-links.repository.ts'

/** The purpose under which the vault seals a token until its mail is sent. */
const PURPOSE = 'account link'

/** The page that asks for the password. The token is in the fragment, which browsers do not send. */
export const LINK_PAGE = '/api/v1/auth/link'

export interface CreatedLink {
  link: string
  expires_at: string
}

export type AccountLinks = ReturnType<typeof accountLinks>

/**
 * Links that let a person set a password: an invitation or a reset. The database keeps the hash of
 * the token. The token itself is kept sealed only until its mail is sent.
 */
export function accountLinks({ config, now, vault }: Pick<Core, 'config' | 'now' | 'vault'>) {
  const hours: Record<rows.LinkKind, number> = {
    invitation: config.SVC_INVITATION_HOURS,
    password_reset: config.SVC_PASSWORD_RESET_HOURS,
  }
  const urlOf = (token: string) => `${publicUrl(config)}${LINK_PAGE}#${token}`

  return {
    /** Replaces the earlier link of the person. With `mailed` a chore sends it by mail. */
    async create(
      tx: Tx,
      person: rows.Person,
      kind: rows.LinkKind,
      { mailed = true }: { mailed?: boolean } = {},
    ): Promise<CreatedLink> {
      const token = randomToken()
      const expires_at = new Date(now().getTime() + hours[kind] * HOUR_MS).toISOString()
      await rows.replaceLink(tx, person, {
        id: ulid(),
        kind,
        token_hash: sha256(token),
        sealed_token: mailed ? vault.seal(PURPOSE, token) : null,
        mail_status: mailed ? 'pending' : 'none',
        expires_at,
        created_at: now().toISOString(),
      })
      return { link: urlOf(token), expires_at }
    },

    /** Undefined when the link is unknown, used, replaced or expired, or its person may not sign in. */
    find: (db: Db, token: string) => rows.findLink(db, sha256(token), now()),

    spend: (tx: Tx, id: string) => rows.spendLink(tx, id),

    remove: (tx: Tx, person: rows.Person) => rows.removeLinks(tx, person),

    timeOf: (db: Db, person: rows.Person) => rows.linkTimeOf(db, person),

    setPassword: (tx: Tx, person: rows.Person, passwordHash: string) =>
      rows.setPassword(tx, person, passwordHash, now()),

    /** The link of a sealed token, for its mail. */
    open: (sealed: Buffer) => urlOf(vault.open(PURPOSE, sealed)),
  }
}
