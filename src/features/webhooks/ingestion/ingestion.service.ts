import type { Caller } from '../../../access/caller.ts'
import { globalWebhookUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import { type Occurrence, occurrence } from '../../../events/events.ts'
import { aboutDomain, aboutOutbound, domainIn } from '../attribution.ts'
import { queueState } from '../delivery/queue.repository.ts'
import { WebhookTested } from '../webhooks.events.ts'
import { readAlerts } from './alerts.ts'
import * as errors from './ingestion.errors.ts'
import * as types from './ingestion.events.ts'
import type {
  ImapAction,
  InboundMessage,
  OutboundMessage,
  Pop3Action,
} from './ingestion.schemas.ts'
import { readHead } from './message-head.ts'

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now'> {
  /** Called with the number of events that were stored. */
  counted(events: number): void
}

export type IngestionService = ReturnType<typeof ingestionService>

/** Stores reports of mail servers and of the monitoring as events. */
export const ingestionService = ({ change, config, db, events, now, counted }: Needs) => {
  const store = async (caller: Caller, ...occurrences: Occurrence[]) => {
    await change(caller, (tx) => events.emitMany(tx, occurrences))
    counted(occurrences.length)
  }

  return {
    async inbound(caller: Caller, sent: InboundMessage) {
      if (!sent.eml_content) throw new errors.NoEmlContent()
      const { message_id, from, to, subject, has_attachments } = readHead(sent.eml_content)
      const data = {
        message_id,
        from: sent.sender ?? from,
        to: sent.recipient ?? to,
        subject,
        size: Buffer.byteLength(sent.eml_content),
        has_attachments,
        spam_score: sent.spam_score ?? 0,
        tls_used: sent.tls_used ?? false,
        spf_result: sent.spf_result ?? null,
        dkim_result: sent.dkim_result ?? null,
        dmarc_result: sent.dmarc_result ?? null,
      }
      // Only the SMTP envelope counts: the sender can write anything into the headers.
      const about = await aboutDomain(db, domainIn(sent.recipient))
      await store(caller, occurrence(types.EmailInbound, about, data))
    },

    async outbound(caller: Caller, sent: OutboundMessage) {
      if (!sent.eml_content) throw new errors.NoEmlContent()
      const { message_id, from, to, subject } = readHead(sent.eml_content)
      const data = {
        message_id,
        from: sent.sender ?? from,
        to: sent.recipients ?? (to === null ? [] : [to]),
        subject,
        size: Buffer.byteLength(sent.eml_content),
        queue_id: sent.queue_id ?? null,
        delivery_status: sent.delivery_status ?? 'queued',
        tls_used: sent.tls_used ?? false,
      }
      const about = await aboutOutbound(db, sent)
      await store(caller, occurrence(types.EmailOutbound, about, data))
    },

    async imap(caller: Caller, sent: ImapAction) {
      const action = wordOf(sent.action)
      const data = {
        user: sent.user ?? null,
        mailbox: sent.mailbox ?? null,
        message_uid: sent.message_uid?.toString() ?? null,
        message_id: sent.message_id ?? null,
        action,
        flags: sent.flags ?? [],
      }
      const type = types.imapEvents.get(action) ?? {
        ...types.OtherImapEvent,
        name: `email.imap.${action}`,
      }
      const about = await aboutDomain(db, domainIn(sent.user))
      await store(caller, occurrence(type, about, data))
    },

    async pop3(caller: Caller, sent: Pop3Action) {
      const action = wordOf(sent.action)
      const data = {
        user: sent.user ?? null,
        action,
        messages_downloaded: sent.messages_downloaded ?? 0,
        bytes_downloaded: sent.bytes_downloaded ?? 0,
        session_duration: sent.session_duration ?? 0,
      }
      const type = types.pop3Events.get(action) ?? {
        ...types.OtherPop3Event,
        name: `email.pop3.${action}`,
      }
      const about = await aboutDomain(db, domainIn(sent.user))
      await store(caller, occurrence(type, about, data))
    },

    /** Stores all alerts of a notification or none: the alert manager repeats the whole of it. */
    async alerts(caller: Caller, payload: unknown) {
      const alerts = readAlerts(payload)
      const typeOf = ({ status }: { status: string }) =>
        status === 'resolved' ? types.AlertResolved : types.AlertFiring
      await store(caller, ...alerts.map((data) => occurrence(typeOf(data), { org_id: null }, data)))
      return alerts.length
    },

    async test(caller: Caller, payload: unknown) {
      const type = { ...WebhookTested, source: 'webhooks' }
      const data = { test: true as const, timestamp: now().toISOString(), payload }
      await store(caller, occurrence(type, { org_id: null }, data))
    },

    async status() {
      const { depth } = await queueState(db)
      return {
        status: 'active' as const,
        queue_size: depth,
        webhook_urls_configured: globalWebhookUrl(config) === undefined ? 0 : 1,
        timestamp: now().toISOString(),
      }
    },
  }
}

/** The action as the last part of an event name. */
function wordOf(action: string | null | undefined): string {
  const word = (action ?? 'unknown').toLowerCase()
  if (!/^[a-z0-9_-]{1,40}$/.test(word)) throw new errors.InvalidAction()
  return word
}
