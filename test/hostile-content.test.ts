import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from './support/app.ts'
import { HOSTILE, insertHostileRows } from './support/hostile-rows.ts'
import { describedRoutes, type Route } from './support/references.ts'

/** Columns that no console route returns: secrets, and values that only the daemons read. */
const NOT_SHOWN = `acme_accounts.directory_url alert_events.comparator alert_events.metric
  certificates.fingerprint certificates.key_hash certificates.names certificates.next_key_hash
  certificates.path daemon_heartbeats.address
  daemon_heartbeats.host daemon_heartbeats.instance daemon_heartbeats.name
  data_erasures.lease_owner data_erasures.previous_status data_exports.file_name
  data_exports.lease_owner dlp_violations.details dlp_violations.matched_pattern
  failed_auth_attempts.counterparts feedback_loops.digest ip_reputation.block_reason
  legal_holds.lease_owner legal_holds.reason legal_holds.release_reason legal_holds.released_by
  mail_log.delays mail_log.original_recipient mailbox_moves.created_by mailbox_moves.lease_owner
  operators.password_hash organizations.verification_token provisioning.lease_owner
  quarantine.author quarantine.lease_owner sessions.client_platform sessions.csrf_hash sessions.token_hash
  webhook_dead_letters.event_id`.split(/\s+/)

const ofConsole = describedRoutes().filter(
  ({ method, label, path }) =>
    method === 'GET' &&
    label.startsWith('Operator(') &&
    // Figures and keys only, or output of a running Postfix, which test/mail/queue.test.ts covers.
    !/^\/api\/v1\/(queue|storage|domains)\//.test(path),
)
const titled = ofConsole.map((route) => [route.path, route] as const)
const EXPORT = '/api/v1/compliance/data-export/{user_email}/download/{export_id}'
/** Returns HTML; compared with the preview below. */
const PREVIEW = '/api/v1/whitelabel/config/{org_id}/preview/page'
/** A line of another program that begins like a line of Mailplane. */
const FOREIGN_LINE = `{${HOSTILE.slice('h0stile'.length).replaceAll(/[\r\n]/g, '')}`

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let columns: string[]
const seen = new Set<string>()
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  owner = await app.operator('owner')
  columns = await insertHostileRows(app, acme, owner.id)
  const line = JSON.stringify({ level: 'error', time: HOSTILE, msg: HOSTILE, name: HOSTILE })
  appendFileSync(join(app.dataDir, 'logs', 'postfix.log'), `${line}\n${FOREIGN_LINE}\n`)
})
afterAll(() => app.stop())

const pathOf = (route: Route, given: Record<string, string>) =>
  route.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given[name] ?? 'none'))

const existing = (route: Route) =>
  pathOf(route, {
    user_email: acme.email,
    msg_id: '<h0stile>',
    rule_id: 'hostile',
    audit_id: '1',
    operator_id: owner.id,
    host_id: 'hostile',
    move_id: 'hostile',
    domain: acme.domain,
    organization_id: acme.organizationId,
    org_id: route.path.includes('/reseller/') ? 'hostile' : acme.organizationId,
    violation_id: '1',
    dead_letter_id: '1',
    service_name: 'api',
  }) + (NEEDED_QUERIES.find(([end]) => route.path.endsWith(end))?.[1] ?? '')

/** Query values without which a route has nothing to return. */
const NEEDED_QUERIES = [
  ['/metrics/range', '?query=mail_queue_depth'],
  ['/retention-policies/{organization_id}/preview', '?retention_days=30'],
] as const

const textsIn = (part: unknown): string[] => {
  if (typeof part === 'string') return [part]
  if (part === null || typeof part !== 'object') return []
  return Object.entries(part).flatMap(([key, value]) => [key, ...textsIn(value)])
}

const count = (text: string, part: string) => text.split(part).length - 1

describe('hostile text', () => {
  it.each(titled.filter(([path]) => path !== EXPORT && path !== PREVIEW))(
    'is returned unchanged as JSON text by GET %s',
    async (_, route) => {
      const { status, headers, body } = await owner.get(existing(route))
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      for (const text of textsIn(body)) {
        for (const [, mark = ''] of text.matchAll(/⟦(.*?)⟧/g)) seen.add(mark)
        // The rendered page has its own test below.
        if (!text.startsWith('<!doctype')) {
          expect(count(text, HOSTILE)).toBe(count(text, 'h0stile "'))
        }
      }
    },
  )

  it('was returned from every column that the console shows', () => {
    expect(columns.filter((mark) => !seen.has(mark)).sort()).toEqual(NOT_SHOWN)
  })

  it('is returned unchanged in log lines', async () => {
    const { body } = await owner.get('/api/v1/platform/logs?service=postfix')
    const texts = body.data.lines.map(({ message }: { message: string }) => message)
    expect(texts).toEqual([`${HOSTILE} name=${HOSTILE}`, FOREIGN_LINE])
  })

  it('executes nothing in a rendered page and opens elements only in HTML fields', async () => {
    const preview = await owner.get(`/api/v1/whitelabel/config/${acme.organizationId}/preview`)
    const elements: string[] = []
    const attributes: string[] = []
    let text = ''
    const parser = new Parser({
      onopentagname: (name) => elements.push(name),
      onattribute: (name, value) => attributes.push(`${name}=${value}`),
      ontext: (part) => {
        text += part
      },
    })
    parser.end(preview.body.data.html)
    const page = await owner.get(`/api/v1/whitelabel/config/${acme.organizationId}/preview/page`)
    expect(page.text).toBe(preview.body.data.html)
    expect(page.headers['content-security-policy']).toMatch(/^sandbox;|; sandbox(;|$)/)
    // The two HTML fields may contain an image.
    expect(attributes.filter((one) => /^(on|src=x$)/.test(one))).toEqual(['src=x', 'src=x'])
    expect(elements).not.toContain('script')
    expect(text).toContain('{{7*7}}#{7*7}<%=7%>')
  })

  it.each(titled)('is refused or matches nothing as a query value of GET %s', async (_, route) => {
    const hostile = [HOSTILE, 'a\0b', '%', '\ud800', "' or 1=1 --"]
    for (const value of hostile) {
      const encoded = encodeURIComponent(value.toWellFormed())
      const names = Object.fromEntries(
        route.places
          .filter(({ where }) => where === 'path')
          .map(({ name }) => [name, value.toWellFormed()]),
      )
      const paths = [
        ...(Object.keys(names).length > 0 ? [pathOf(route, names)] : []),
        ...route.query.map(({ name }) => `${existing(route).split('?')[0]}?${name}=${encoded}`),
      ]
      for (const path of paths) {
        const { status, body } = await owner.get(path)
        expect(`${path} ${status}`).toMatch(/ (200|400|404|409|422|501)$/)
        expect(body).toMatchObject({ type: status === 200 ? 'success' : 'error' })
      }
    }
  })
})
