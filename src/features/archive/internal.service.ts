import type { Core } from '../../core.ts'
import { Unprocessable } from '../../errors.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { MimeMessage } from '../../mime/message.ts'
import { hostOf, placeOf } from './internal.repository.ts'
import { keepMail } from './store/keep-mail.ts'
import * as spools from './store/spools.repository.ts'

/** The envelope of a message that another service archives. */
export interface Posted {
  organization_id?: string
  sender?: string
  recipient: string
  direction?: 'inbound' | 'outbound'
}

export type InternalService = ReturnType<typeof internalService>

/** `drain` uploads everything that waits on this machine. */
export function internalService(core: Core, drain: () => Promise<void>) {
  const { db } = core
  const archive = keepMail(core)
  return {
    async keep(posted: Posted, raw: Buffer) {
      const { sender = '', recipient, direction = 'inbound' } = posted
      const concerned = direction === 'inbound' ? recipient : sender
      const organizationId = posted.organization_id || (await hostOf(db, domainOf(concerned)))
      if (organizationId === undefined) throw new Unprocessable('No organization hosts the address')
      const message = new MimeMessage(raw)
      const kept = { organizationId, direction, sender, recipients: [recipient], message }
      const outcome = await archive.keep(kept)
      if (outcome.status === 'off') return { status: 'off' }
      const { archiveId: archive_id } = outcome
      const is_new = outcome.status === 'stored'
      return { status: 'ok', archive_id, is_new, ...(await placeOf(db, archive_id)) }
    },

    spool: async () => ({ spools: await spools.list(db) }),

    async drain() {
      await drain()
      return { status: 'ok', spools: await spools.list(db) }
    },
  }
}
