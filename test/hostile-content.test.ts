import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from './support/app.ts'
import { HOSTILE, insertHostileRows } from './support/hostile-rows.ts'
import { describedRoutes, type Route } from './support/references.ts'

/** What no route of the console shows: secrets, and what only the daemons read. */
const NOT_SHOWN = `acme_accounts.directory_url alert_events.comparator alert_events.metric
  certificates.fingerprint certificates.names certificates.path daemon_heartbeats.address
  daemon_heartbeats.host daemon_heartbeats.instance daemon_heartbeats.name
  data_erasures.lease_token data_erasures.previous_status data_exports.file_name
  data_exports.lease_token dlp_violations.details dlp_violations.matched_pattern
  feedback_loops.digest ip_reputation.block_reason legal_holds.reason legal_holds.release_reason
  legal_holds.released_by mail_log.credential_id mail_log.delays mail_log.original_recipient
  mail_log.queue_id mail_log.sasl_username operators.password_hash sessions.client_platform
  sessions.csrf_hash sessions.token_hash webhook_dead_letters.event_id`.split(/\s+/)

const ofConsole = describedRoutes().filter(
  ({ method, label, path }) =>
    method === 'GET' &&
    label.startsWith('Operator(') &&
    // Figures and keys only, or what a running Postfix says: test/mail/queue.test.ts asks for it.
    !/^\/api\/v1\/(queue|storage|domains)\//.test(path),
)
const titled = ofConsole.map((route) => [route.path, route] as const)
const EXPORT = '/api/v1/compliance/data-export/{user_email}/download/{export_id}'
/** Begins like one of ours. */
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
    domain: acme.domain,
    org_id: route.path.includes('/reseller/') ? 'hostile' : acme.organizationId,
    violation_id: '1',
    dead_letter_id: '1',
    service_name: 'api',
  }) + (route.path.endsWith('/metrics/range') ? '?query=mail_queue_depth' : '')

const textsIn = (part: unknown): string[] => {
  if (typeof part === 'string') return [part]
  if (part === null || typeof part !== 'object') return []
  return Object.entries(part).flatMap(([key, value]) => [key, ...textsIn(value)])
}

const count = (text: string, part: string) => text.split(part).length - 1

describe('hostile text', () => {
  it.each(titled.filter(([path]) => path !== EXPORT))(
    'is in GET %s what it is everywhere: text',
    async (_, route) => {
      const { status, headers, body } = await owner.get(existing(route))
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      for (const text of textsIn(body)) {
        for (const [, mark = ''] of text.matchAll(/⟦(.*?)⟧/g)) seen.add(mark)
        // The page that is rendered is looked at below.
        if (!text.startsWith('<!doctype')) {
          expect(count(text, HOSTILE)).toBe(count(text, 'h0stile "'))
        }
      }
    },
  )

  it('was shown from every column that the console has', () => {
    expect(columns.filter((mark) => !seen.has(mark)).sort()).toEqual(NOT_SHOWN)
  })

  it('is in lines of the log', async () => {
    const { body } = await owner.get('/api/v1/platform/logs?service=postfix')
    const texts = body.data.lines.map(({ message }: { message: string }) => message)
    expect(texts).toEqual([`${HOSTILE} name=${HOSTILE}`, FOREIGN_LINE])
  })

  it('runs nothing in a rendered page, and opens elements only where HTML is meant', async () => {
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
    // The two fields that are HTML may show an image.
    expect(attributes.filter((one) => /^(on|src=x$)/.test(one))).toEqual(['src=x', 'src=x'])
    expect(elements).not.toContain('script')
    expect(text).toContain('{{7*7}}#{7*7}<%=7%>')
  })

  it.each(titled)('is refused or found nowhere when GET %s is asked for it', async (_, route) => {
    const hostile = [HOSTILE, 'a\0b', '%', '\ud800', "' or 1=1 --"]
    for (const value of hostile) {
      const encoded = encodeURIComponent(value.toWellFormed())
      const names = Object.fromEntries(
        route.places
          .filter(({ where }) => where === 'path')
          .map(({ name }) => [name, value.toWellFormed()]),
      )
      const asked = [
        ...(Object.keys(names).length > 0 ? [pathOf(route, names)] : []),
        ...route.query.map(({ name }) => `${existing(route).split('?')[0]}?${name}=${encoded}`),
      ]
      for (const path of asked) {
        const { status, body } = await owner.get(path)
        expect(`${path} ${status}`).toMatch(/ (200|400|404|409|422|501)$/)
        expect(body).toMatchObject({ type: status === 200 ? 'success' : 'error' })
      }
    }
  })
})
