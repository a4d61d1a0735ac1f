import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import type { DomainService } from '../../domains/domains.service.ts'
import { TrackedEmailNotFound } from '../tracking.errors.ts'
import * as events from '../tracking-events.repository.ts'

const DEVICES = 10
const PLACES = 20
const TIMELINE = 100

interface Needs extends Pick<Core, 'db' | 'now'> {
  domains: Pick<DomainService, 'findByName'>
}

export type StatsService = ReturnType<typeof statsService>

export const statsService = ({ db, domains, now }: Needs) => ({
  async ofDomain(caller: Caller, name: string, days: number) {
    const found = await domains.findByName(db, caller, toDomainName(name) ?? '')
    if (!found) throw new DomainNotFound()
    const { id, domain, organization_id } = found
    const end = now()
    const start = new Date(end.getTime() - days * DAY_MS)
    const [counts, total_sent] = await Promise.all([
      events.countsOfDomain(db, domain, organization_id, start),
      events.deliveredOf(db, domain, organization_id, start),
    ])
    const totalOf = (type: string) =>
      counts.find(({ event_type }) => event_type === type)?.total ?? 0
    return {
      domain,
      domain_id: id,
      period_days: days,
      start_date: start.toISOString(),
      end_date: end.toISOString(),
      event_statistics: byType(counts),
      total_sent,
      total_opens: totalOf('opened'),
      total_clicks: totalOf('clicked'),
      generated_at: end.toISOString(),
    }
  },

  /** A message of another organization is not found. */
  async ofEmail({ scope }: Caller, sent: string) {
    const email_id = sent.replace(/^<|>$/g, '')
    const message = await events.findMessage(db, scope, email_id)
    if (!message) throw new TrackedEmailNotFound()
    const [counts, devices, places, timeline] = await Promise.all([
      events.countsOfMessage(db, scope, message),
      events.devicesOfMessage(db, scope, message, DEVICES),
      events.placesOfMessage(db, scope, message, PLACES),
      events.timelineOfMessage(db, scope, message, TIMELINE),
    ])
    return {
      email_id,
      statistics: byType(counts),
      device_breakdown: devices,
      geographic_breakdown: places,
      timeline,
      ...(timeline.length === 0 && { message: 'Nothing has been recorded for this message yet' }),
      generated_at: now().toISOString(),
    }
  },
})

const byType = <Row extends { event_type: string }>(rows: Row[]) =>
  Object.fromEntries(rows.map(({ event_type, ...counts }) => [event_type, counts]))
