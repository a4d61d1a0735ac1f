import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, PASSWORD, startApp } from './support/app.ts'
import type { Answer } from './support/http.ts'

const DOCUMENT = readFileSync(new URL('../docs/addresses.md', import.meta.url), 'utf8')
const DOMAINS = ['acme.example', 'bücher.example', `${'y.'.repeat(92)}teste`]

interface Kind {
  send(client: Client, name: string, domainId: string): Promise<Answer>
  /** Returns the stored name from the response or from a later request. */
  stored(client: Client, answer: Answer): string | Promise<string>
}

const alias = (client: Client, source: string, destination: string) =>
  client.post('/api/v1/aliases/add', { source, destination })
let count = 0

/** The sections of the page, each with the request that its table describes. */
const KINDS: Record<string, Kind> = {
  Domains: {
    send: (client, domain) => client.post('/api/v1/domains/', { domain, dkim_enabled: false }),
    stored: (_, { body }) => body.data.domain,
  },
  Mailboxes: {
    send: (client, email) =>
      client.post('/api/v1/mailboxes/email-accounts', { email, password: PASSWORD }),
    stored: (_, { body }) => body.data.email,
  },
  'Shared mailboxes': {
    send: (client, email) => client.post('/api/v1/shared-mailboxes', { email, name: 'Shared' }),
    stored: (_, { body }) => body.data.email,
  },
  Aliases: {
    send: (client, source) => alias(client, source, 'jane@elsewhere.example'),
    stored: (_, { body }) => body.data.source,
  },
  'Destinations of aliases': {
    send: (client, destination) => alias(client, `alias-${++count}@acme.example`, destination),
    stored: async (client, { body }) => {
      const { body: read } = await client.get(`/api/v1/aliases/get/${body.data.alias_id}`)
      return read.data[0].destinations.join(',')
    },
  },
  'SMTP logins': {
    send: (client, username, domain_id) =>
      client.post('/api/v1/smtp-credentials/', { domain_id, username }),
    stored: (_, { body }) => body.data.username,
  },
}

const parts = new Map(
  DOCUMENT.split(/^## /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf('\n')), rowsIn(part)]),
)

it('docs/addresses.md has a table for every kind of name', () => {
  expect([...parts.keys()]).toEqual(Object.keys(KINDS))
  for (const rows of parts.values()) expect(rows.length).toBeGreaterThan(5)
})

describe.each(Object.entries(KINDS))('%s in docs/addresses.md', (title, { send, stored }) => {
  let app: App
  let client: Client
  let domainId: string
  beforeAll(async () => {
    app = await startApp()
    client = await app.tenant('caller')
    for (const domain of DOMAINS) {
      const made = await client.post('/api/v1/domains/', { domain, dkim_enabled: false })
      domainId ??= made.body.data.id
    }
    const verified_at = app.clock.now().toISOString()
    await app.core.db.updateTable('domains').set({ verified_at }).execute()
  })
  afterAll(() => app.stop())

  it.each(parts.get(title) ?? [])('%s', async (_, sent, kept, answer) => {
    const given = await send(client, sent, domainId)
    const { body, status } = given
    const name = status < 300 ? await stored(client, given) : undefined
    const problem = status < 300 ? '' : ` ${body.data?.errors?.[0] ?? body.msg}`
    expect({ stored: name, answer: `${status}${problem}` }).toEqual({ stored: kept, answer })
  })
})

/** The rows of a table: as written, the input, the stored value if any, and the response. */
function rowsIn(part: string): [string, string, string | undefined, string][] {
  return part
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, sent = '', kept = '', answer = ''] = line.split(/ *\| */)
      return [sent, meant(sent), kept === '—' ? undefined : meant(kept), meant(answer)]
    })
}

/** Expands `\u212A` to a character and `{x*64}` to a repetition. */
function meant(written: string): string {
  return written
    .replace(/^`(.*)`$/, '$1')
    .replace(/\\u([0-9A-F]{4})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/\{(.+?)\*(\d+)\}/g, (_, text, times) => text.repeat(Number(times)))
}
