import { expect } from 'vitest'
import type { App, Client } from './app.ts'

let count = 0

/** Calls about aliases, by default of one tenant. */
export const aliases = (app: () => App, tenant: () => Client) => {
  const add = (body: object, client: Pick<Client, 'post'> = tenant()) =>
    client.post('/api/v1/aliases/add', body)
  /** An address without an alias. */
  const fresh = (domain = 'acme.test') => `a${++count}@${domain}`
  return {
    add,
    fresh,
    get: (name: string, client: Pick<Client, 'get'> = tenant()) =>
      client.get(`/api/v1/aliases/get/${encodeURIComponent(name)}`),
    async created(destination = 'someone@elsewhere.example', source = fresh()) {
      const { status, body } = await add({ source, destination })
      expect(body).toMatchObject({ type: 'success' })
      expect(status).toBe(200)
      return { id: body.data.alias_id as string, source }
    },
    stored: (source: string) =>
      app()
        .core.db.selectFrom('aliases')
        .selectAll()
        .where('source', '=', source)
        .executeTakeFirst(),
    async eventsAbout(id: string) {
      const rows = await app()
        .core.db.selectFrom('events')
        .selectAll()
        .orderBy('sequence')
        .execute()
      return rows.filter(({ data }) => (data as { alias_id?: string }).alias_id === id)
    },
  }
}
