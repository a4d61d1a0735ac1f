import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from './support/app.ts'
import type { Answer } from './support/http.ts'
import { bodyOf, describedRoutes, type Place, type Route } from './support/references.ts'
import { mayRefer, type Names, tenantNames, unknownNames } from './support/tenant-names.ts'
import { furnishedTenant, rowsOf, type Tenant, waysIn } from './support/two-tenants.ts'

/**
 * The expected status for a resource of another tenant where it is not 404: by route and name, or
 * by method, location and name.
 */
const ANSWERS: Record<string, number> = {
  'DELETE /api/v1/mailboxes/email-accounts/{account_id} account_id': 204,
  'DELETE /api/v1/smtp-credentials/{credential_id} credential_id': 200,
  // A tenant may suppress any e-mail address.
  'POST /api/v1/tracking/suppress email': 200,
  'DELETE /api/v1/tracking/suppress/{email} email': 200,
  'POST /api/v1/tracking/suppress organization_id': 200,
  'DELETE /api/v1/tracking/suppress/{email} organization_id': 200,
  // The credential decides the organization; the value sent is ignored.
  'GET query organization_id': 200,
  'POST body organization_id': 201,
  // A schedule without a domain is refused for every organization.
  'POST /api/v1/analytics/reports/scheduled organization_id': 400,
  // A client without a redirect URI is refused first; the tests of the feature send one.
  'POST /api/v1/oauth/clients key_id': 422,
  'POST /api/v1/oauth/clients organization_id': 422,
  'POST /api/v1/transport-rules/test organization_id': 200,
  // A missing query value is reported first; the tests of the feature send it.
  'PUT /api/v1/transport-rules/{rule_id}/enable rule_id': 422,
  // The path identifies the rule.
  'PUT /api/v1/transport-rules/{rule_id} organization_id': 200,
  // A filter that matches no row.
  'GET query domain_id': 200,
  'GET query endpoint_id': 200,
  'GET /api/v1/oauth/grants email': 200,
  'GET /api/v1/oauth/grants client_id': 200,
  'GET /api/v1/aliases/get/{alias_id} domain': 200,
  // One result per item.
  'POST body items': 200,
  'POST body []': 200,
  'POST /api/v1/aliases/add/bulk source': 200,
  'POST /api/v1/mailboxes/email-accounts/bulk email': 200,
  // These routes respond with 400 "not found or inactive".
  'POST /api/v1/aliases/add source': 400,
  'POST /api/v1/mailboxes/add domain': 400,
  'POST /api/v1/mailboxes/add email': 400,
  'POST /api/v1/mailboxes/email-accounts email': 400,
  // Mail may be forwarded to any e-mail address.
  'POST body destination': 200,
  'POST body forward_destination': 201,
  'POST /api/v1/mailboxes/email-accounts/bulk forward_destination': 200,
  'PUT body forward_destination': 200,
  // The credential decides the organization; the value sent is ignored.
  'POST /api/v1/rag/search organization_id': 200,
  'POST /api/v1/rag/documents/{collection_id} organization_id': 200,
  'PUT /api/v1/users/policy organization_id': 200,
  // A sender that is not the caller's own is refused, whether it exists or not.
  'POST body from': 403,
  'POST /api/v1/url-protection/scan organization_id': 200,
  // The installation of this test has no public URL.
  'PUT /api/v1/url-protection/settings organization_id': 503,
  // Another organization is not found, and there is no job.
  'GET /api/v1/encryption/pgp/jobs/{job_id} organization_id': 404,
  'POST /api/v1/encryption/pgp/import organization_id': 404,
  'POST /api/v1/encryption/pgp/encrypt organization_id': 404,
  'POST /api/v1/encryption/pgp/decrypt organization_id': 404,
  'POST /api/v1/encryption/pgp/sign organization_id': 404,
  'POST /api/v1/encryption/pgp/verify organization_id': 404,
  'POST /api/v1/encryption/smime/import organization_id': 404,
  'POST /api/v1/encryption/smime/encrypt organization_id': 404,
  'POST /api/v1/encryption/smime/decrypt organization_id': 404,
  'POST /api/v1/encryption/smime/sign organization_id': 404,
  'POST /api/v1/encryption/smime/verify organization_id': 404,
  'POST /api/v1/encryption/smime/verify sender_email': 400,
  'POST /api/v1/encryption/smime/import email': 400,
  'GET /api/v1/encryption/smime/certs email': 200,
  // A short passphrase and an unreadable key are refused first.
  'POST /api/v1/encryption/pgp/generate organization_id': 422,
  'POST /api/v1/encryption/pgp/generate email': 422,
  'POST /api/v1/encryption/pgp/import email': 400,
  'GET /api/v1/encryption/pgp/keys email': 200,
  // The path identifies the member.
  'PUT body email_account_id': 200,
}
/**
 * Values that are unique in the whole installation: a caller may learn that one is taken, nothing
 * else.
 */
const UNIQUE = /^POST \/api\/v1\/domains\/ domain$|^POST .* username$/
/** Values that every tenant may have for itself: that of another tenant is like any other (S20). */
const PER_TENANT = /^(POST|PUT) .* external_id$/

const routes = describedRoutes()
const ofTenants = routes.filter(({ label }) => /^Key\(/.test(label))
const ofOperators = routes.filter(({ label }) => /^(Operator|Platform)\(/.test(label))

let app: App
let acme: Tenant
let globex: Tenant
let clients: Record<string, Client>
let names: Names
beforeAll(async () => {
  app = await startApp({ limiting: true, env: { SVC_SELF_SERVICE_KEYS: 'true' } })
  acme = await furnishedTenant(app, 'acme')
  globex = await furnishedTenant(app, 'globex')
  clients = await waysIn(app, acme)
  names = tenantNames(acme, globex, await app.operator('owner'))
})
afterAll(() => app.stop())

/** Calls the route with one name replaced and all other names of the caller's own. */
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

/** Removes from a response the parts that vary and the values that the caller sent. */
function essence({ status, headers, text }: Answer, sent: string) {
  const { date, 'content-length': length, 'x-correlation-id': correlation, ...stable } = headers
  const echoes = [sent, sent.slice(sent.indexOf('@') + 1)]
  const comparable = echoes.reduce(
    (rest, echo) => rest.replaceAll(echo, '…').replaceAll(echo.toLowerCase(), '…'),
    text.replaceAll(String(correlation), 'correlation'),
  )
  return {
    status,
    headers: stable,
    text: comparable
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

// These tests run first, while nothing of acme refers to globex.
describe('lists of a tenant', () => {
  // Lists that are identical for all tenants, or belong to the mailbox named in the query.
  const others = [
    '/api/v1/webhooks/event-types',
    '/api/v1/filters/templates',
    '/api/v1/templates/library',
    '/api/v1/filters/',
    '/api/v1/analytics/health',
    '/api/v1/caldav/discovery',
    // Needs a running Postfix, see test/mail/queue-manager.test.ts.
    '/api/v1/queue/own',
    // These contain figures only.
    '/api/v1/rag/health',
    '/api/v1/url-protection/settings',
  ]
  const lists = ofTenants.filter(({ list }) => list !== undefined && !others.includes(list))

  it.each(lists.map((route) => [route.list as string, route] as const))(
    'GET %s returns nothing of another tenant for any filter value',
    async (path, { query }) => {
      const own = await acme.get(path)
      expect(own.status).toBe(200)
      expect([acme.name, ...acme.ids].some((name) => own.text.includes(name))).toBe(true)
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

/** Lets the next request use the value again, as the first one of acme. */
async function forgetExternalId(external_id: string): Promise<void> {
  for (const table of ['domains', 'email_accounts'] as const) {
    await app.core.db
      .updateTable(table)
      .set({ external_id: null })
      .where('organization_id', '=', acme.organizationId)
      .where('external_id', '=', external_id)
      .execute()
  }
}

describe('resources of another tenant', () => {
  it('test/support/tenant-names.ts covers every name that a route takes', () => {
    expect(
      unknownNames(names, [...ofTenants, ...ofOperators]),
      'add these to test/support/tenant-names.ts, with what they mean or as plain text',
    ).toEqual([])
  })

  it.each(placesOf(ofTenants))('are not accessible through %s', async (title, route, place) => {
    const forms = names.of(route, place.name)?.foreign ?? []
    const before = await rowsOf(app, globex, acme)
    for (const [who, client] of Object.entries(clients)) {
      for (const form of forms) {
        const [existing, absent] = form()
        const answer = await call(client, route, place, existing)
        const comparable = essence(answer, existing)
        saysNothingOf(globex, comparable.text)
        if (UNIQUE.test(title)) {
          expect(`${who} ${comparable.status} ${comparable.text}`).toMatch(/ 409 .* already exists/)
          continue
        }
        if (PER_TENANT.test(title)) {
          expect(comparable.status).toBe((await call(client, route, place, absent)).status)
          await forgetExternalId(existing)
          continue
        }
        const expected =
          place.where === 'path'
            ? ANSWERS[title]
            : (ANSWERS[title] ?? ANSWERS[`${route.method} ${place.where} ${place.name}`])
        expect(`${who} ${existing} ${comparable.status}`).toBe(
          `${who} ${existing} ${expected ?? 404}`,
        )
        checkBody(title, answer)
        // Created resources differ in their key and id.
        if (comparable.status === 201) continue
        expect(comparable).toEqual(essence(await call(client, route, place, absent), absent))
      }
    }
    expect(await rowsOf(app, globex, acme)).toEqual(before)
  })

  it.each(placesOf(ofOperators))(
    'give a tenant no access to an operator route: %s',
    async (_, route, place) => {
      const before = await rowsOf(app, globex, acme)
      for (const client of Object.values(clients)) {
        for (const form of names.of(route, place.name)?.foreign ?? []) {
          const [existing, absent] = form()
          const comparable = essence(await call(client, route, place, existing), existing)
          expect(comparable).toMatchObject({
            status: 403,
            text: expect.stringContaining('Platform scope required'),
          })
          expect(comparable).toEqual(essence(await call(client, route, place, absent), absent))
        }
      }
      expect(await rowsOf(app, globex, acme)).toEqual(before)
    },
  )

  it('cannot be named in a request of a mailbox holder', () => {
    const pages = routes.filter(({ label }) => label === 'Mailbox session')
    const taken = pages.flatMap(({ places }) => places.map(({ name }) => name))
    expect([...new Set(taken)].sort()).toEqual([
      'address',
      'addresses',
      // src/features/mailbox/app-passwords/app-passwords.test.ts names one of another holder.
      'app_password_id',
      'body',
      'cc',
      'certificate',
      'code',
      'current_password',
      'encrypted_message',
      'end_date',
      'expire_date',
      'field',
      // encryption.test.ts and encryption.smime-certificates.test.ts name those of another holder.
      'fingerprint',
      'from',
      // src/features/oauth/grants/grants.test.ts names a grant of another holder.
      'grant_id',
      'id',
      'job_id',
      'key',
      'match',
      'message',
      'name',
      'new_passphrase',
      'new_password',
      'operator',
      'passphrase',
      'pkcs12',
      // Public keys of the organization.
      'recipient_email',
      'recipients',
      'sender_email',
      // src/features/mailbox/sessions/sessions.test.ts names a session of another holder.
      'session_id',
      'signature',
      'start_date',
      'subject',
      'to',
      'two_factor_code',
      'type',
      'value',
    ])
  })
})

/** Checks the responses for which the status alone is not sufficient. */
function checkBody(title: string, { status, body }: Answer): void {
  if (/ (items|\[\])$|bulk (source|email)$/.test(title)) {
    const items = (body.data.results ?? body.data) as { status: string }[]
    expect(items.map((item) => item.status)).toEqual(['error'])
  }
  if (/smtp.* credential_id$/.test(title) && status === 200) {
    expect(body.data).toEqual({ cache_flushed: false })
  }
  if (status === 201) expect(body.data.organization_id).toBe(acme.organizationId)
}
