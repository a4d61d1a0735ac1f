import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'

const TIMESTAMP = '2026-05-01T10:00:00.123456+00:00'

/** An event as it is stored, apart from its id and time. */
export const eventContent = {
  event: 'domain.added',
  source: 'api',
  org_id: 'acme',
  domain: 'acme.test',
  tags: ['vip'],
  user_variables: { customer: 7 },
  data: { domain: 'acme.test' },
  metadata: { attempt: 'first' },
}

export interface Letter {
  id: number
  eventId: string
}

/** Dead letters and what becomes of them, as the database has them. */
export const deadLetters = (app: () => App) => ({
  async bury(more: object = {}, isStored = true): Promise<Letter> {
    const eventId = ulid()
    const { db } = app().core
    if (isStored) {
      await db
        .insertInto('events')
        .values({ id: eventId, ...eventContent, created_at: TIMESTAMP })
        .execute()
    }
    const { id } = await db
      .insertInto('webhook_dead_letters')
      .values({
        event_id: eventId,
        organization_id: null,
        event_type: eventContent.event,
        endpoint_url: 'https://hooks.host.test/',
        last_error: 'Failed after 8 attempts: HTTP 500',
        attempt_count: 8,
        payload: { id: eventId, timestamp: TIMESTAMP, ...eventContent },
        ...more,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { id, eventId }
  },

  /** In the order they will be delivered. */
  queued: (...eventIds: string[]) =>
    app()
      .core.db.selectFrom('webhook_queue')
      .select(['event_id', 'lane', 'attempts'])
      .where('event_id', 'in', eventIds)
      .orderBy('id')
      .execute(),

  letterOf: (id: number) =>
    app()
      .core.db.selectFrom('webhook_dead_letters')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow(),
})
