import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { brandOf, type ShownBrand } from '../../../hosting/brand.repository.ts'
import { isSuppressedBy, suppress } from '../../../hosting/suppressions.repository.ts'
import { networkOf } from '../../../lib/ip.ts'
import { lruMap } from '../../../lib/lru-map.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { storeEvents } from '../store-events.ts'
import * as tracked from '../tracked.repository.ts'
import { InvalidTrackingId } from '../tracking.errors.ts'
import { messageIdOf, TrackingUnsubscribe } from '../tracking.events.ts'
import { trackingIds } from '../tracking-ids.ts'
import { recorderOf } from './recorder.ts'
import { automation, deviceOf, type Visit } from './visitor.ts'
import { visitCounter } from './visits.ts'

const MAX_TEXT = 1000
const MAX_REASON = 500
const MAX_TARGETS = 10_000
const TARGET_CACHED_MS = HOUR_MS
const ONE_CLICK = 'one-click-post'

export interface Visitor extends Visit {
  ip: string
  referer: string | null
  language: string | null
}

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'log' | 'now' | 'vault'>

export type PublicService = ReturnType<typeof publicService>

/** Opens, clicks and unsubscribes, by the unguessable ids in the message. */
export function publicService(core: Needs) {
  const { change, config, db, events, now, vault } = core
  const ids = trackingIds(vault)
  const visits = visitCounter(config.TRACKING_RATE_LIMIT_PER_IP, config.TRACKING_RATE_LIMIT_WINDOW)
  const targets = lruMap<string, { url: string; until: number }>(MAX_TARGETS)

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

  /** Caches link targets for up to an hour. A deleted message may resolve until then. */
  async function targetOf(copy: string, position: number): Promise<string | undefined> {
    const key = `${copy} ${position}`
    const cached = targets.get(key)
    const at = now().getTime()
    if (cached && at < cached.until) return cached.url
    const url = await tracked.findTarget(db, copy, position)
    if (url === undefined) targets.delete(key)
    else targets.set(key, { url, until: at + TARGET_CACHED_MS })
    return url
  }

  return {
    /** Returns nothing: the image is the same whether the id exists or not. */
    opened(id: string, visitor: Visitor): void {
      const thing = ids.read(id)
      if (thing && thing.position === undefined) {
        record(visitor, { type: 'opened', copy: thing.copy, url: null })
      }
    },

    /** The stored target of a link, never one that the caller sends. */
    async clicked(id: string, visitor: Visitor, query: object): Promise<string> {
      const thing = ids.read(id)
      const url =
        thing?.position === undefined ? undefined : await targetOf(thing.copy, thing.position)
      if (!thing || url === undefined) throw new InvalidTrackingId()
      record(visitor, { type: 'clicked', copy: thing.copy, url, query })
      return url
    },

    /** The brand of the sender, for the pages that recipients see. */
    async brandFor(id: string): Promise<ShownBrand> {
      const thing = ids.read(id)
      const organization = thing && (await tracked.findOrganization(db, thing.copy))
      return organization ? brandOf(db, organization) : {}
    },

    /** Stored before the answer, and only once for repeated requests. */
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
            ip_address: config.TRACKING_ANONYMIZE_IP ? networkOf(visitor.ip) : visitor.ip,
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
