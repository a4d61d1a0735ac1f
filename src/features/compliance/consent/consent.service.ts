import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { ConsentChanged } from '../compliance.events.ts'
import { findOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import * as consents from './consent.repository.ts'

/** Clients know two names for one thing; one is stored. */
const SAME: Record<string, string> = { third_party: 'third_party_sharing' }

export type ConsentService = ReturnType<typeof consentService>

export const consentService = ({
  change,
  db,
  events,
  now,
}: Pick<Core, 'change' | 'db' | 'events' | 'now'>) => ({
  async list(email: string) {
    const user_email = userEmail(email)
    return { user_email, items: await consents.list(db, user_email) }
  },

  async set(caller: Caller, email: string, sent: { consent_type: string; granted: boolean }) {
    const user_email = userEmail(email)
    const consent_type = SAME[sent.consent_type] ?? sent.consent_type
    const { granted } = sent
    const organization_id = (await findOrganization(db, user_email)) ?? null
    return change(caller, async (tx) => {
      const row = await consents.upsert(tx, {
        id: ulid(),
        user_email,
        consent_type,
        granted,
        ip_address: caller.ip,
        user_agent: caller.userAgent,
        at: now().toISOString(),
      })
      const action = granted ? 'granted' : 'revoked'
      const told = { user_email, consent_type, granted, action }
      await record(
        tx,
        caller,
        {
          action: `consent.${action}`,
          organization_id,
          user_email,
          details: { consent_type },
        },
        now(),
      )
      const about = { org_id: organization_id, domain: organization_id && domainOf(user_email) }
      await events.emit(tx, ConsentChanged, about, told)
      return row
    })
  },
})
