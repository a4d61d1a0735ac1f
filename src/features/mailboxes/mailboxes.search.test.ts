import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS, insertMailbox } from '../../../test/support/mailboxes.ts'

const MAILBOXES = [
  { email: 'grace.keller@acme.test', name: 'Grace Keller' },
  { email: 'gracekel@acme.test', name: 'Kel Grace' },
  { email: 'o.brien@acme.test', name: "O'Brien & ''Sons'' | !x :*" },
  { email: 'slash@acme.test', name: 'back\\slash \\\\ end\\' },
  { email: 'oezer@acme.test', name: 'Ayşe ÖZER Ünal' },
  { email: 'odos@acme.test', name: 'ΟΔΟΣ ΑΘΗΝΑ' },
  { email: 'emoji@acme.test', name: '👩‍🚀 Zoë' },
  { email: 'short@acme.test', name: 'x' },
  { email: 'nameless@acme.test' },
]

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let platform: Awaited<ReturnType<App['key']>>

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('other')
  platform = await app.key(null, { scope: 'platform' })
  for (const mailbox of MAILBOXES) await insertMailbox(app, acme, mailbox)
})
afterAll(() => app.stop())

const search = async (q: string, by: Pick<typeof acme, 'get'>, narrowed = '') => {
  const query = `q=${encodeURIComponent(q)}&sort_by=email&per_page=200${narrowed}`
  const { status, body } = await by.get(`${ACCOUNTS}?${query}`)
  expect(status).toBe(200)
  const emails = body.data.items.map(({ email }: { email: string }) => email)
  expect(body.data.pagination.total).toBe(emails.length)
  return emails as string[]
}

const OF_ACME = [...MAILBOXES, { email: 'admin@acme.test', name: 'admin' }]
const OF_ALL = [...OF_ACME, { email: 'admin@other.test', name: 'admin' }]

const found = (q: string, among: { email: string; name?: string }[]) =>
  among
    .filter(({ email, name = '' }) => lower(`${email}\n${name}`).includes(lower(q)))
    .map(({ email }) => email)
    .sort()

/** Lowers each letter alone, as PostgreSQL does. */
const lower = (text: string) => [...text].map((letter) => letter.toLowerCase()).join('')

describe('a search for mailboxes', () => {
  it('finds any part of an address or name, for tenants and the platform', async () => {
    for (const text of MAILBOXES.flatMap(({ email, name }) => [email, name ?? ''])) {
      const letters = [...text]
      for (const length of [1, 2, 3, 4, 5, 8, 9, letters.length]) {
        for (let at = 0; at + length <= letters.length; at += Math.max(1, length - 2)) {
          const q = letters.slice(at, at + length).join('')
          const own = found(q, OF_ACME)
          expect(own).not.toHaveLength(0)
          expect({ q, emails: await search(q, acme) }).toEqual({ q, emails: own })
          const all = found(q, OF_ALL)
          expect({ q, emails: await search(q, platform) }).toEqual({ q, emails: all })
        }
      }
    }
  })

  it.each([
    ['grace.kel', ['grace.keller@acme.test']],
    ['GRACEKEL', ['gracekel@acme.test']],
    ['Keller Grace', []],
    ['özer', ['oezer@acme.test']],
    ['οδοσ', ['odos@acme.test']],
    ['testgrace', []],
    ["''", ['o.brien@acme.test']],
    [':*', ['o.brien@acme.test']],
    ['\\', ['slash@acme.test']],
    ['grace & kel', []],
    ['%', []],
  ])('for %s finds %j', async (q, emails) => {
    expect(await search(q, platform)).toEqual(emails)
    expect(await search(q, acme)).toEqual(emails)
  })

  it.each(['g', 'gra', 'grac', 'grace.keller', 'özer'])(
    'for %s returns no mailbox of another organization',
    async (q) => {
      expect(await search(q, acme)).not.toEqual([])
      expect(await search(q, globex)).toEqual([])
      expect(await search(q, globex, `&domain_id=${acme.domainId}`)).toEqual([])
    },
  )

  it('can be filtered by domain or status', async () => {
    const own = `&domain_id=${acme.domainId}`
    expect(await search('gra', platform, own)).toEqual(found('gra', OF_ACME))
    expect(await search('grace', platform, own)).toEqual(found('grace', OF_ACME))
    expect(await search('grace', platform, '&domain_id=other')).toEqual([])
    expect(await search('grace', platform, '&status=suspended')).toEqual([])
  })
})
