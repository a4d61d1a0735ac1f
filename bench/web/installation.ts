import { fileURLToPath } from 'node:url'
import { ulid } from '../../src/lib/ulid.ts'
import { bootstrap } from '../bootstrap.ts'
import { open } from '../scale/installation.ts'
import { type Started, start } from '../servers.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const MAILBOXES = 300
const MESSAGES = 2000
const TRACED = '<order-4711@bench.example>'
const HOUR_MS = 3_600_000

export interface Installation {
  url: string
  cookies: { name: string; value: string; url: string }[]
  /** Addresses of the pages by their name. */
  pages: Record<string, string>
}

/** The built server with one tenant that has mailboxes and mail, and a session of its administrator. */
export async function startInstallation(
  dataDir: string,
  started: Started[],
): Promise<Installation> {
  const { url } = await start(
    process.execPath,
    [MAIN, 'serve'],
    // Browsers accept a Secure cookie on https only.
    { DATA_DIR: dataDir, PORT: '0', SVC_COOKIE_SECURE: 'false', SVC_HASHING_COST: 'lowest' },
    started,
  )
  const { api_key, organization_id, mailbox, password } = await bootstrap(url, dataDir)
  const domain = mailbox.slice(mailbox.indexOf('@') + 1)
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', 'x-api-key': api_key },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response
  }
  await call('/mailboxes/email-accounts/bulk', {
    accounts: Array.from({ length: MAILBOXES }, (_, nth) => ({
      email: `person-${nth}@${domain}`,
      password,
      name: `Person ${nth}`,
    })),
  })
  await insertMail(dataDir, organization_id, mailbox)
  const domains = (await (await call('/domains/')).json()) as { data: { items: { id: string }[] } }
  const login = await call('/auth/login', { email: mailbox, password })
  return {
    url,
    cookies: login.headers.getSetCookie().map((cookie) => {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      return { name, value, url }
    }),
    pages: {
      'sign-in': '/?as=dashboard',
      overview: '/app',
      'list of mailboxes': '/app/mailboxes',
      domain: `/app/domains/${domains.data.items[0]?.id}`,
      'timeline of a message': `/app/messages/${encodeURIComponent(TRACED)}`,
    },
  }
}

/** Mail of the last month, and one message that was deferred before it was delivered. */
async function insertMail(dataDir: string, organization_id: string, sender: string) {
  const database = open(dataDir)
  const row = (hoursAgo: number, status: 'delivered' | 'deferred', message_id: string) => ({
    id: ulid(),
    timestamp: new Date(Date.now() - hoursAgo * HOUR_MS).toISOString(),
    organization_id,
    sender,
    sasl_username: sender,
    recipient: 'jane@elsewhere.test',
    subject: 'Your order 4711',
    message_id,
    relay: 'mx.elsewhere.test[192.0.2.25]:25',
    size: 48_213,
    status,
  })
  await database.db
    .insertInto('mail_log')
    .values([
      row(2, 'deferred', TRACED),
      row(1, 'delivered', TRACED),
      ...Array.from({ length: MESSAGES }, (_, nth) =>
        row(1 + (nth * 700) / MESSAGES, 'delivered', `<message-${nth}@bench.example>`),
      ),
    ])
    .execute()
  await database.close()
}
