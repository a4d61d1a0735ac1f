import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { declareEvents } from '../features/index.ts'
import { findEvent, overtaken } from './catalogue.ts'
import { eventCatalogue } from './events.ts'
import { exampleData } from './example.ts'

await declareEvents()

/** Names that clients rely on, by their first part. */
const PROMISED: Record<string, string> = {
  email: `delivered bounced deferred rejected inbound outbound read deleted moved copied flagged
    unflagged accepted dropped stored queued unread replied forwarded drafted draft.deleted
    attachment.downloaded`,
  pop3: 'session.start session.end messages.downloaded',
  tracking: 'open click unsubscribe',
  delivery: 'complaint bounce.hard bounce.soft success delayed',
  rate_limit: 'exceeded threshold_breach reset',
  storage: 'quota.warning quota.exceeded usage.report cleanup',
  org: 'created updated deleted suspended activated',
  domain: 'added updated deleted verified verification.failed dns.configured',
  mailbox: 'created updated deleted suspended activated quota.changed password.changed',
  alias: 'created updated deleted',
  filter: 'created updated deleted triggered',
  transport_rule: 'created updated deleted triggered',
  shared_mailbox: 'created deleted member.added member.removed permission.changed',
  auth: `login.success login.failure totp.enabled totp.disabled totp.verified password.changed
    api_key.created api_key.revoked`,
  security: `brute_force ip.blocked dlp.violation geo.blocked auth.failure ip.whitelisted
    spam.detected phishing.detected virus.detected policy.violation`,
  migration: 'started progress completed failed cancelled message.error',
  optimizer: 'ip.warmed domain.throttled reputation.changed fbl.received',
  archive: 'stored restored deleted hold.created hold.released',
  encryption: `key.generated key.imported key.revoked message.encrypted message.decrypted`,
  health: 'service.down service.up recovery system.alert check.failed',
  system: 'alert.firing alert.resolved',
  queue: 'flushed held released message.failed message.queued message.processed',
  rag: `indexing.started indexing.complete search.complete ai.transaction classification
    summarization`,
  compliance: 'data_export data_erasure consent_changed hold.placed hold.released',
  whitelabel: 'configured updated',
  reseller: 'account.created account.suspended',
  webhook: 'test delivery.failed',
  folder: 'created deleted renamed subscribed unsubscribed',
  spam: 'quarantined released reported false_positive',
  url: 'rewritten blocked sandbox.result',
  sieve: 'script.updated script.activated',
  vacation: 'enabled disabled response.sent',
  backup: 'started completed failed',
  restore: 'started completed failed',
}
const promised = Object.entries(PROMISED).flatMap(([first, rest]) =>
  rest.split(/\s+/).map((more) => `${first}.${more}`),
)

const catalogue = eventCatalogue().filter(({ name }) => !name.startsWith('test.'))

describe('the catalogue of events', () => {
  it('has every name that clients rely on', () => {
    const names = new Set(catalogue.map(({ name }) => name))
    expect(promised.length).toBeGreaterThan(150)
    expect(promised.filter((name) => !names.has(name))).toEqual([])
  })

  it.each(catalogue.map((type) => [type.name, type] as const))(
    '%s has a summary, a source and an example that is valid for its schema',
    (name, { summary, source, data }) => {
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      expect(source).toMatch(/^[a-z_]+$/)
      const ajv = new Ajv({ strict: false })
      ;(formats as unknown as (one: Ajv) => void)(ajv)
      const example = exampleData(data)
      expect(ajv.validate(data, example), `${name}: ${ajv.errorsText()}`).toBe(true)
      expect(Object.values(example)).not.toContain('text')
      expect(Object.keys(example).length).toBeGreaterThan(0)
    },
  )

  it('lists every *.events.ts file in src/features/index.ts', () => {
    const source = new URL('../', import.meta.url)
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    const listed = readFileSync(new URL('features/index.ts', source), 'utf8')
    const declaring = files.filter((file) => file.endsWith('.events.ts'))
    expect(declaring.length).toBeGreaterThan(20)
    const isListed = (file: string) =>
      listed.includes(`import('../${file}')`) ||
      listed.includes(`import('./${file.replace('features/', '')}')`)
    expect(declaring.filter((file) => !isListed(file))).toEqual([])
  })

  it('plans no event that a feature defines; its line in src/events/planned must be deleted', () => {
    expect(overtaken()).toEqual([])
  })

  it('finds the events of a family by their prefix only', () => {
    expect(findEvent('email.imap.append')?.name).toBe('email.imap.*')
    for (const name of [
      'email.imap.*',
      'email.imap.',
      'email.imap.A B',
      'email.imap.a.b',
      'x',
      '',
    ]) {
      expect(findEvent(name), name).toBeUndefined()
    }
  })

  it('is in docs/generated/events.md, with the producer of each event', () => {
    const page = readFileSync(new URL('../../docs/generated/events.md', import.meta.url), 'utf8')
    for (const { name, source, producer } of catalogue) {
      const word = { this: 'Mailplane', none: '`none`', reserved: '`reserved`' }[producer]
      expect(page).toMatch(`\n## ${name}\n`)
      expect(page).toContain(`Source: \`${source}\`. Producer: ${word}.`)
    }
  })
})
