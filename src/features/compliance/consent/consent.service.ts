import { isIP } from 'node:net'
import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { ConsentChanged } from '../compliance.events.ts'
import { findOrganization } from '../people.repository.ts'
import { record } from '../trail/trail.repository.ts'
import { userEmail } from '../user-email.ts'
import * as consents from './consent.repository.ts'

interface Sent {
  consent_type: string
  granted: boolean
  ip_address?: string | null
  user_agent?: string | null
}

/** Clients send two names for one consent type; the long name is stored. */
const STORED_TYPE: Record<string, string> = { third_party: 'third_party_sharing' }

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

  async set(caller: Caller, email: string, sent: Sent) {
    const user_email = userEmail(email)
    const consent_type = STORED_TYPE[sent.consent_type] ?? sent.consent_type
    const { granted } = sent
    if (typeof sent.ip_address === 'string' && isIP(sent.ip_address) === 0) {
      throw invalidField('ip_address', 'Must be an IP address, or null')
    }
    const organization_id = (await findOrganization(db, user_email)) ?? null
    return change(caller, async (tx) => {
      const row = await consents.upsert(tx, {
        id: ulid(),
        user_email,
        consent_type,
        granted,
        // The caller is an operator; only the body can say where the person was.
        ip_address: sent.ip_address ?? null,
        user_agent: sent.user_agent ?? null,
        at: now().toISOString(),
      })
      const action = granted ? 'granted' : 'revoked'
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
      const payload = { user_email, consent_type, granted, action }
      await events.emit(tx, ConsentChanged, about, payload)
      return row
    })
  },
})
