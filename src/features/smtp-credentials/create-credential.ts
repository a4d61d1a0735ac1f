import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import { recordCredentialEvent } from '../../hosting/credential-trail.repository.ts'
import { newSmtpSecret } from '../../lib/smtp-secrets.ts'
import { ulid } from '../../lib/ulid.ts'
import type { DomainService } from '../domains/domains.service.ts'
import { CredentialDomainNotFound, UsernameTaken } from './smtp-credentials.errors.ts'
import * as credentials from './smtp-credentials.repository.ts'
import * as rules from './smtp-credentials.rules.ts'
import type { NewCredential } from './smtp-credentials.schemas.ts'

const NAME_TRIES = 5
// An actor is longer than its e-mail address, which alone may have 254 characters.
const MAX_ATTRIBUTION = 255

export interface CreationNeeds
  extends Pick<Core, 'change' | 'db' | 'mailServers' | 'now' | 'passwords'> {
  domains: Pick<DomainService, 'find' | 'lock'>
}

export function credentialCreation(needs: CreationNeeds) {
  const { change, db, domains, mailServers, now, passwords } = needs

  /** Returns the secret only when it was generated here. */
  return async function createCredential(caller: Caller, sent: NewCredential) {
    const { domain_id, username, password, created_by, ...settings } = sent
    const chosen = username == null ? undefined : rules.readUsername(username)
    if (chosen !== undefined) {
      rules.refuseReserved(chosen, mailServers.current().IMAP_MASTER_USER)
    }
    if (password != null) rules.checkPassword(password)
    const fields = rules.fieldsOf(settings, now())
    rules.checkAllowlist(fields.ip_allowlist_enabled ?? false, fields.allowed_ips ?? [])
    const domain = await domains.find(db, caller, domain_id)
    if (!domain) throw new CredentialDomainNotFound(domain_id)
    if (chosen !== undefined) rules.checkOwnDomain(chosen, domain.domain)

    const generated = password == null ? newSmtpSecret() : undefined
    const row = {
      ...fields,
      domain_id,
      organization_id: domain.organization_id,
      prefix: generated?.prefix ?? null,
      secret_hash: await passwords.hashSmtpSecret(generated?.secret ?? (password as string)),
      created_by: created_by || actorOf(caller).slice(0, MAX_ATTRIBUTION),
    }
    const insert = (login: string) =>
      refusing(
        {
          smtp_credentials_username: () => new UsernameTaken(login),
          addresses_pkey: () => new UsernameTaken(login),
        },
        () =>
          change(caller, async (tx) => {
            // Waits for a concurrent deletion of the domain, whose trail would miss this credential.
            if (!(await domains.lock(tx, caller.scope, domain_id))) {
              throw new CredentialDomainNotFound(domain_id)
            }
            const at = now()
            const stored = { ...row, id: ulid(), username: login }
            const credential = await credentials.insert(tx, stored, at)
            await recordCredentialEvent(tx, caller, 'created', [credential], at)
            return credential
          }),
      )
    const created = await (chosen === undefined
      ? withNewName(domain.domain, insert)
      : insert(chosen))
    return generated ? { ...created, secret: generated.secret } : created
  }
}

/** Generated names rarely collide; after a collision another one is tried. */
async function withNewName<Result>(domain: string, insert: (login: string) => Promise<Result>) {
  for (let tries = 1; ; tries++) {
    try {
      return await insert(rules.newUsername(domain))
    } catch (error) {
      if (!(error instanceof UsernameTaken) || tries === NAME_TRIES) throw error
    }
  }
}
