import { webhooks } from '../../src/features/webhooks/index.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { type App, startApp } from './app.ts'

const TIMESTAMP = '2026-05-01T10:00:00.123456+00:00'

/** The routes of the installation that has a global URL. */
export const PATH = '/test/webhooks/dead-letters'

/** Starts an installation without a global URL and, on the same database, one that has it. */
export async function startBothApps() {
  const quiet = await startApp()
  const config = { ...quiet.core.config, WEBHOOK_URL: 'https://hooks.host.test/' }
  const app = await startApp({
    database: quiet.database,
    features: [{ ...webhooks({ ...quiet.core, config }), prefix: '/test/webhooks' }],
  })
  return {
    quiet,
    app,
    async stop() {
      await app.stop()
      await quiet.stop()
    },
  }
}

/** A stored event without its id and time. */
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

/** Dead letters and their deliveries, as stored in the database. */
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

  /** In the order of delivery. */
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
