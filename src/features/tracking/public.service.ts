import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { ulid } from '../../lib/ulid.ts'
import { isSuppressedBy, suppress } from '../suppressions/suppressions.repository.ts'
import { recorderOf } from './recorder.ts'
import { shortened } from './shortened-address.ts'
import { storeEvents } from './store-events.ts'
import * as tracked from './tracked.repository.ts'
import { InvalidTrackingId } from './tracking.errors.ts'
import { messageIdOf, TrackingUnsubscribe } from './tracking.events.ts'
import { trackingIds } from './tracking-ids.ts'
import { automation, deviceOf, type Visit } from './visitor.ts'
import { visitCounter } from './visits.ts'

const MAX_TEXT = 1000
const MAX_REASON = 500
const MAX_TARGETS = 10_000
const TARGET_KEPT_MS = 60 * 60_000
const ONE_CLICK = 'one-click-post'

export interface Visitor extends Visit {
  ip: string
  referer: string | null
  language: string | null
}

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'log' | 'now' | 'vault'>

export type PublicService = ReturnType<typeof publicService>

/** What recipients do, told by ids that only they have. */
export function publicService(core: Needs) {
  const { change, config, db, events, now, vault } = core
  const ids = trackingIds(vault)
  const visits = visitCounter(config.TRACKING_RATE_LIMIT_PER_IP, config.TRACKING_RATE_LIMIT_WINDOW)
  const targets = new Map<string, { url: string; until: number }>()

  function record(
    visitor: Visitor,
    seen: { type: 'opened' | 'clicked'; copy: string; url: string | null; query?: object },
  ) {
    if (!visits.admits(visitor.ip, now())) return
    recorderOf(core).add({
      ...seen,
      query: (seen.query as Record<string, unknown>) ?? null,
      ip: visitor.ip,
      userAgent: cut(visitor.userAgent),
      referer: cut(visitor.referer),
      language: cut(visitor.language),
      automated: automation(visitor),
      at: now(),
    })
  }

  /** Popular links are asked for again and again. Within the hour one that was forgotten is unknown. */
  async function targetOf(copy: string, position: number): Promise<string | undefined> {
    const key = `${copy} ${position}`
    const kept = targets.get(key)
    const at = now().getTime()
    if (kept && at < kept.until) return kept.url
    targets.delete(key)
    const found = await tracked.findTarget(db, copy, position)
    if (found === undefined) return undefined
    if (targets.size >= MAX_TARGETS) targets.delete(targets.keys().next().value as string)
    targets.set(key, { url: found, until: at + TARGET_KEPT_MS })
    return found
  }

  return {
    /** Answers nothing: whoever asks gets the same image, whether the id is known or not. */
    opened(id: string, visitor: Visitor): void {
      const thing = ids.read(id)
      if (thing && thing.position === undefined) {
        record(visitor, { type: 'opened', copy: thing.copy, url: null })
      }
    },

    /** Where a link leads: to what was stored for it, never to what the caller says. */
    async clicked(id: string, visitor: Visitor, query: object): Promise<string> {
      const thing = ids.read(id)
      const url =
        thing?.position === undefined ? undefined : await targetOf(thing.copy, thing.position)
      if (!thing || url === undefined) throw new InvalidTrackingId()
      record(visitor, { type: 'clicked', copy: thing.copy, url, query })
      return url
    },

    /** Stored before it is answered, and stored once, however often it is asked for. */
    async unsubscribe(caller: Caller, id: string, visitor: Visitor, given?: string) {
      const thing = ids.read(id)
      if (!thing || thing.position !== undefined) throw new InvalidTrackingId()
      const reason = given?.trim().slice(0, MAX_REASON) || ONE_CLICK
      return change(caller, async (tx) => {
        const copy = await tracked.lockCopy(tx, thing.copy)
        if (!copy) throw new InvalidTrackingId()
        const { recipient, organization_id, email_id, domain, domain_id } = copy
        const at = now()
        if (await isSuppressedBy(tx, 'UNSUBSCRIBE', recipient, organization_id)) return recipient
        const text = `Unsubscribed by the recipient: ${reason}`
        const row = { email: recipient, organization_id, reason: text, source: null }
        await suppress(tx, 'UNSUBSCRIBE', [row], at)
        await storeEvents(tx, [
          {
            id: ulid(at.getTime()),
            organization_id,
            domain_id,
            domain,
            tracking_id: copy.id,
            email_id,
            recipient,
            event_type: 'unsubscribed',
            automated: false,
            automated_reason: null,
            url: null,
            user_agent: cut(visitor.userAgent),
            ip_address: config.TRACKING_ANONYMIZE_IP ? shortened(visitor.ip) : visitor.ip,
            referer: cut(visitor.referer),
            accept_language: cut(visitor.language),
            ...deviceOf(visitor.userAgent),
            country: null,
            region: null,
            city: null,
            additional_data: { reason },
            created_at: at.toISOString(),
          },
        ])
        await events.emit(
          tx,
          TrackingUnsubscribe,
          { org_id: organization_id, domain },
          {
            email: recipient,
            reason,
            email_id,
            message_id: messageIdOf(email_id),
            organization_id,
          },
        )
        return recipient
      })
    },
  }
}

const cut = (text: string | null): string | null => text?.slice(0, MAX_TEXT) ?? null
