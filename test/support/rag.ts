import { expect } from 'vitest'
import type { App, Client } from './app.ts'

export const PATH = '/api/v1/rag'

type Tenant = Client & Pick<Awaited<ReturnType<App['tenant']>>, 'domain'>

/** Creates a collection and returns its id. */
export async function createCollection(tenant: Tenant, name: string): Promise<string> {
  const made = await tenant.post(`${PATH}/collections/${tenant.domain}`, { name })
  expect(made.status).toBe(201)
  return made.body.data.collection_id
}

export async function addDocuments(tenant: Client, collection: string, documents: object[]) {
  const added = await tenant.post(`${PATH}/documents/${collection}`, { documents })
  expect(added.status).toBe(200)
  return added.body.data
}

/** Creates collections with documents for two tenants and returns the id of the first. */
export async function createHandbooks(acme: Tenant, globex: Tenant): Promise<string> {
  const handbook = await createCollection(acme, 'Handbook')
  await addDocuments(acme, handbook, [
    {
      id: 'lighthouse',
      content: 'The harbour authority has postponed the inspection of the northern lighthouse.',
      metadata: { subject: 'Lighthouse', from: 'Anna <anna@port.test>', date: '2026-03-01' },
    },
    {
      id: 'canteen',
      content: 'From Monday on the canteen serves lentil soup & "bread" with 1 < 2 onions.',
      metadata: { subject: 'Canteen', from: 'ben@acme.test', date: '2026-05-01T12:00:00Z' },
    },
    {
      id: 'rechnung',
      content: 'Die Rechnungen für die Heizung sind nicht bezahlt, bitte überweisen Sie das Geld.',
    },
  ])
  const theirs = await createCollection(globex, 'Handbook')
  await addDocuments(globex, theirs, [
    { id: 'secret', content: 'The lighthouse of globex is haunted by a harbour pilot.' },
  ])
  return handbook
}

export async function search(client: Pick<Client, 'post'>, query: string, more: object = {}) {
  const { status, body } = await client.post(`${PATH}/search`, { query, ...more })
  expect(status).toBe(200)
  return body.data
}

/** The ids of the found documents. */
export const foundIds = async (client: Pick<Client, 'post'>, query: string, more: object = {}) =>
  (await search(client, query, more)).results.map((one: { document_id: string }) => one.document_id)
