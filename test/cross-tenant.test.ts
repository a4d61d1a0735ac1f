import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from './support/app.ts'
import type { Answer } from './support/http.ts'
import { bodyOf, describedRoutes, type Place, type Route } from './support/references.ts'
import { mayRefer, type Names, tenantNames, unknownNames } from './support/tenant-names.ts'
import { furnishedTenant, rowsOf, type Tenant, waysIn } from './support/two-tenants.ts'

/**
 * What somebody else's thing gets where that is not 404: by route and name, or by method, place and
 * name.
 */
const ANSWERS: Record<string, number> = {
  'DELETE /api/v1/mailboxes/email-accounts/{account_id} account_id': 204,
  'DELETE /api/v1/smtp-credentials/{credential_id} credential_id': 200,
  // Anybody may be on the list of whom a tenant does not write to.
  'POST /api/v1/tracking/suppress email': 200,
  'DELETE /api/v1/tracking/suppress/{email} email': 200,
  'POST /api/v1/tracking/suppress organization_id': 200,
  'DELETE /api/v1/tracking/suppress/{email} organization_id': 200,
  // A tenant is always its own organization, whatever it sends.
  'GET query organization_id': 200,
  'POST body organization_id': 201,
  // Without a domain nothing is scheduled, for whomever.
  'POST /api/v1/analytics/reports/scheduled organization_id': 400,
  'POST /api/v1/transport-rules/test organization_id': 200,
  // Asks for a query value first; the tests of the feature send it along.
  'PUT /api/v1/transport-rules/{rule_id}/enable rule_id': 422,
  // The path says which rule it is.
  'PUT /api/v1/transport-rules/{rule_id} organization_id': 200,
  // A filter that matches nothing.
  'GET query domain_id': 200,
  'GET query endpoint_id': 200,
  'GET /api/v1/aliases/get/{alias_id} domain': 200,
  // One answer for each item.
  'POST body items': 200,
  'POST body []': 200,
  'POST /api/v1/aliases/add/bulk source': 200,
  // In the words of these routes: not found or inactive.
  'POST /api/v1/aliases/add source': 400,
  'POST /api/v1/mailboxes/add domain': 400,
  'POST /api/v1/mailboxes/add email': 400,
  'POST /api/v1/mailboxes/email-accounts email': 400,
  // Mail may go on to anybody.
  'POST body destination': 200,
  'POST body forward_destination': 201,
  'PUT body forward_destination': 200,
  // A tenant is always its own, whatever it sends.
  'POST /api/v1/rag/search organization_id': 200,
  'POST /api/v1/rag/documents/{collection_id} organization_id': 200,
  // The path says who the member is.
  'PUT body email_account_id': 200,
}
/** Given once in the whole installation: that it is taken can be told, and nothing else. */
const UNIQUE = /^POST \/api\/v1\/domains\/ domain$|^(POST|PUT) .* external_id$|^POST .* username$/

const routes = describedRoutes()
const ofTenants = routes.filter(({ label }) => /^Key\(/.test(label))
const ofOperators = routes.filter(({ label }) => /^(Operator|Platform)\(/.test(label))

let app: App
let acme: Tenant
let globex: Tenant
let clients: Record<string, Client>
let names: Names
beforeAll(async () => {
  app = await startApp({ limiting: true })
  acme = await furnishedTenant(app, 'acme')
  globex = await furnishedTenant(app, 'globex')
  clients = await waysIn(app, acme)
  names = tenantNames(acme, globex, await app.operator('owner'))
})
afterAll(() => app.stop())

/** The route with one name changed and everything else the caller's own. */
function call(client: Client, route: Route, place: Place, value: string): Promise<Answer> {
  const given = (where: Place['where']) => (name: string) =>
    where === place.where && name === place.name ? value : names.of(route, name)?.own()
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(given('path')(name))),
  )
  const query = place.where === 'query' ? `?${place.name}=${encodeURIComponent(value)}` : ''
  const tested = place.where === 'body' ? place.name : undefined
  const body = route.body && bodyOf(route.body, given('body'), tested)
  return client.call(route.method, path + query, body)
}

/** An answer without what differs from one to the next, and without what the caller sent. */
function essence({ status, headers, text }: Answer, sent: string) {
  const { date, 'content-length': length, 'x-correlation-id': correlation, ...kept } = headers
  const echoes = [sent, sent.slice(sent.indexOf('@') + 1)]
  const told = echoes.reduce(
    (rest, echo) => rest.replaceAll(echo, '…').replaceAll(echo.toLowerCase(), '…'),
    text.replaceAll(String(correlation), 'correlation'),
  )
  return {
    status,
    headers: kept,
    text: told
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, (id) => (globex.ids.includes(id) ? id : 'id'))
      .replace(/\bnew-\d+/g, 'new'),
  }
}

const saysNothingOf = (tenant: Tenant, text: string) => {
  expect(text).not.toMatch(new RegExp([tenant.name, ...tenant.ids].join('|'), 'i'))
}

const placesOf = (some: Route[]) =>
  some.flatMap((route) =>
    route.places
      .filter(mayRefer)
      .map((place) => [`${route.route} ${place.name}`, route, place] as const),
  )

// First, while nothing of acme's leads to globex.
describe('a list', () => {
  // The same for everybody, or of one mailbox that is named in the query.
  const others = [
    '/api/v1/webhooks/event-types',
    '/api/v1/filters/templates',
    '/api/v1/filters/',
    '/api/v1/analytics/health',
    // Figures only.
    '/api/v1/rag/health',
  ]
  const lists = ofTenants.filter(({ list }) => list !== undefined && !others.includes(list))

  it.each(lists.map((route) => [route.list as string, route] as const))(
    "of %s has nothing of another tenant's, whatever is asked for",
    async (path, { query }) => {
      const own = await acme.get(path)
      expect(own.status).toBe(200)
      expect(acme.ids.some((id) => own.text.includes(id))).toBe(true)
      const single = query.flatMap(({ name, schema }) =>
        hostile(schema).map((value) => `${name}=${encodeURIComponent(value)}`),
      )
      const everything = query.map(({ name }) => `${name}=${globex.organizationId}`).join('&')
      const twice = query.flatMap(({ name }) => [
        `${name}=${acme.organizationId}&${name}=${globex.organizationId}`,
        `${name}[]=${globex.organizationId}`,
        `${name}[ne]=${acme.organizationId}`,
      ])
      for (const filter of [...single, everything, ...twice]) {
        for (const client of Object.values(clients)) {
          const answer = await client.get(`${path}?${filter}`)
          expect([200, 422], `${filter}: ${answer.text}`).toContain(answer.status)
          if (answer.status === 200) saysNothingOf(globex, answer.text)
        }
      }
    },
  )

  const hostile = (schema: TSchema): string[] => {
    const { enum: choices, type } = schema as { enum?: string[]; type?: string }
    if (choices) return choices
    if (type === 'boolean') return ['true', 'false']
    if (type === 'integer') return ['1', '200']
    return [...globex.ids, globex.domain, globex.account.email, '', '%', '_', "' or true --", '*']
  }
})

describe("another tenant's things", () => {
  it('are looked for under every name that the routes take', () => {
    expect(
      unknownNames(names, [...ofTenants, ...ofOperators]),
      'add these to test/support/tenant-names.ts, with what they mean or as plain text',
    ).toEqual([])
  })

  it.each(placesOf(ofTenants))('are not there for %s', async (title, route, place) => {
    const forms = names.of(route, place.name)?.foreign ?? []
    const before = await rowsOf(app, globex, acme)
    for (const [who, client] of Object.entries(clients)) {
      for (const form of forms) {
        const [existing, absent] = form()
        const answer = await call(client, route, place, existing)
        const told = essence(answer, existing)
        saysNothingOf(globex, told.text)
        if (UNIQUE.test(title)) {
          expect(`${who} ${told.status} ${told.text}`).toMatch(/ 409 .* already exists/)
          continue
        }
        const expected =
          place.where === 'path'
            ? ANSWERS[title]
            : (ANSWERS[title] ?? ANSWERS[`${route.method} ${place.where} ${place.name}`])
        expect(`${who} ${existing} ${told.status}`).toBe(`${who} ${existing} ${expected ?? 404}`)
        checkBody(title, answer)
        // Of what was made there is one each, with a key and an id of its own.
        if (told.status === 201) continue
        expect(told).toEqual(essence(await call(client, route, place, absent), absent))
      }
    }
    expect(await rowsOf(app, globex, acme)).toEqual(before)
  })

  it.each(placesOf(ofOperators))(
    'and the operators are out of reach: %s',
    async (_, route, place) => {
      const before = await rowsOf(app, globex, acme)
      for (const client of Object.values(clients)) {
        for (const form of names.of(route, place.name)?.foreign ?? []) {
          const [existing, absent] = form()
          const told = essence(await call(client, route, place, existing), existing)
          expect(told).toMatchObject({
            status: 403,
            text: expect.stringContaining('Platform scope required'),
          })
          expect(told).toEqual(essence(await call(client, route, place, absent), absent))
        }
      }
      expect(await rowsOf(app, globex, acme)).toEqual(before)
    },
  )

  it('cannot be named on the pages of a mailbox holder at all', () => {
    const pages = routes.filter(({ label }) => label === 'Mailbox session')
    const taken = pages.flatMap(({ places }) => places.map(({ name }) => name))
    expect([...new Set(taken)].sort()).toEqual([
      'address',
      'addresses',
      'body',
      'cc',
      'code',
      'current_password',
      'end_date',
      'field',
      'from',
      'id',
      'match',
      'message',
      'name',
      'new_password',
      'operator',
      'start_date',
      'subject',
      'to',
      'two_factor_code',
      'type',
      'value',
    ])
  })
})

/** What a status alone does not tell. */
function checkBody(title: string, { status, body }: Answer): void {
  if (/ (items|\[\])$|bulk source$/.test(title)) {
    const items = (body.data.results ?? body.data) as { status: string }[]
    expect(items.map((item) => item.status)).toEqual(['error'])
  }
  if (/smtp.* credential_id$/.test(title) && status === 200) {
    expect(body.data).toEqual({ cache_flushed: false })
  }
  if (status === 201) expect(body.data.organization_id).toBe(acme.organizationId)
}
