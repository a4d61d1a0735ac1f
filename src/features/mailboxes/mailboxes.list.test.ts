import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ACCOUNTS, insertMailbox } from '../../../test/support/mailboxes.ts'
import { ulid } from '../../lib/ulid.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let acme: Tenant
let globex: Tenant

beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  await insertMailbox(app, acme, { email: 'bea@acme.test', name: 'Bea 100%', storage_used: 30 })
  await insertMailbox(app, acme, { email: 'cid@acme.test', status: 'suspended', storage_used: 10 })
  await insertMailbox(app, acme, { email: 'dan_x@acme.test', status: 'inactive', storage_used: 20 })
})
afterAll(() => app.stop())

const list = async (query: string, by: Pick<Tenant, 'get'> = acme) => {
  const answer = await by.get(`${ACCOUNTS}?${query}`)
  expect(answer.status).toBe(200)
  const { items, pagination } = answer.body.data
  return {
    emails: items.map(({ email }: { email: string }) => email.split('@')[0]),
    items,
    pagination,
  }
}

describe('the list of mailboxes', () => {
  it.each([
    ['status=deleted', 'status must be one of active, inactive, suspended'],
    ['sort_by=password_hash', 'sort_by must be one of email, created_at, storage_used, last_login'],
    ['sort_dir=up', "sort_dir must be 'asc' or 'desc'"],
    ['page=0', 'page must be at least 1'],
  ])('rejects %s', async (query, msg) => {
    expect(await acme.get(`${ACCOUNTS}?${query}`)).toMatchObject({
      status: 422,
      body: { type: 'error', msg },
    })
  })

  it('contains only own mailboxes, with domain and organization names, without secrets', async () => {
    const answer = await acme.get(ACCOUNTS)
    expect(answer.body.msg).toBe('Email accounts retrieved successfully')
    const { items, pagination } = answer.body.data
    expect(items).toHaveLength(4)
    expect(pagination).toEqual({ page: 1, per_page: 50, total: 4, total_pages: 1 })
    expect(items[0]).toMatchObject({
      email: 'admin@acme.test',
      local_part: 'admin',
      domain_name: 'acme.test',
      organization_name: 'acme',
    })
    expect(answer.text).not.toMatch(/argon2|_hash/)
  })

  it.each([
    ['', ['admin', 'bea', 'cid', 'dan_x']],
    ['sort_dir=desc', ['dan_x', 'cid', 'bea', 'admin']],
    ['sort_by=storage_used', ['admin', 'cid', 'dan_x', 'bea']],
    ['sort_by=created_at&sort_dir=desc', ['dan_x', 'cid', 'bea', 'admin']],
    ['status=active', ['admin', 'bea']],
    ['status=suspended', ['cid']],
    ['q=BEA', ['bea']],
    ['q=100%25', ['bea']],
    ['q=%25', ['bea']],
    ['q=n_x', ['dan_x']],
    ['q=_', ['dan_x']],
    ['q=d&status=inactive', ['dan_x']],
    ['page=2&per_page=3', ['dan_x']],
    ['page=9', []],
    ["q=';drop%20table%20x;--", []],
    ['domain_id=nowhere', []],
  ])('for %s returns %j', async (query, emails) => {
    expect((await list(query)).emails).toEqual(emails)
  })

  it('has the same total from the counters as from counting rows', async () => {
    for (const query of ['', `domain_id=${acme.domainId}`, 'q=@acme.test']) {
      expect((await list(query)).pagination.total).toBe(4)
    }
    expect((await list(`domain_id=${globex.domainId}`)).pagination.total).toBe(0)
  })

  it('contains all mailboxes for the platform, and can be filtered by organization', async () => {
    const support = await app.operator('support')
    expect((await list('', support)).pagination.total).toBe(5)
    const one = await list(`organization_id=${globex.organizationId}`, support)
    expect(one).toMatchObject({ emails: ['admin'], pagination: { total: 1 } })
    expect((await list('organization_id=nobody', support)).pagination.total).toBe(0)
  })
})

describe('a page of very many mailboxes', () => {
  beforeAll(async () => {
    const base = ulid().slice(0, 20)
    await app.core.db.transaction().execute(async (tx) => {
      // The rows name organizations and domains that do not exist, so foreign keys are disabled.
      await sql`set local session_replication_role = replica`.execute(tx)
      await sql`
        insert into email_accounts
          (id, organization_id, domain_id, email, password_hash, status, created_at, last_login)
        select ${base}::text || lpad(n::text, 6, '0'),
          case when n <= 2000 then ${globex.organizationId} else 'other' || n % 50 end,
          case when n <= 2000 then ${globex.domainId} else 'other' || n % 50 end,
          'user' || n || case when n <= 2000 then '@globex.test' else '@other.test' end,
          '', case when n % 1000 = 0 then 'suspended' else 'active' end,
          now() - n * interval '1 minute', now() - n * interval '1 second'
        from generate_series(1, 20000) n`.execute(tx)
      await sql`update domains set total_email_accounts = 2001 where id = ${globex.domainId}`.execute(
        tx,
      )
      await sql`update organizations set email_account_count = 2001 where id = ${globex.organizationId}`.execute(
        tx,
      )
    })
    await sql`vacuum analyze email_accounts`.execute(app.core.db)
  })

  /** The execution plan of the query that reads the page. */
  const plan = async (where: string, order: string) => {
    const query = `explain (format text) select id from email_accounts where ${where} order by ${order} limit 50`
    const { rows } = await sql.raw<{ 'QUERY PLAN': string }>(query).execute(app.core.db)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  it('is read from an index, for every sort column in both directions', async () => {
    const own = `organization_id = '${globex.organizationId}'`
    for (const [column, suffix] of [
      ['email', ''],
      ['created_at', '_by_created_at'],
      ['storage_used', '_by_storage'],
      ['last_login', '_by_login'],
    ]) {
      for (const direction of ['asc', 'desc']) {
        const order = `${column} ${direction}, id ${direction}`
        expect(await plan(own, order)).toContain(`email_accounts_of_organization${suffix}`)
        expect(await plan('true', order)).toMatch(/Index Only Scan.*email_accounts_/)
      }
    }
    expect(await plan(`domain_id = '${globex.domainId}'`, 'email, id')).toContain(
      'email_accounts_of_domain',
    )
    expect(await plan("status = 'suspended'", 'email, id')).toContain('email_accounts_by_status')
    for (const q of ['user1234', 'zzz']) {
      const found = `search_text ilike '%${q}%'`
      expect(await plan(found, 'email, id')).toContain('email_accounts_search')
      expect(await plan(`${own} and ${found}`, 'email, id')).toContain('email_accounts_search')
    }
  })

  it.each(['email', 'created_at', 'storage_used', 'last_login'])(
    'is equal when read from either end, sorted by %s',
    async (column) => {
      const all = async (direction: string) => {
        const ids: string[] = []
        for (let page = 1; page <= 12; page++) {
          const query = `sort_by=${column}&sort_dir=${direction}&per_page=200&page=${page}`
          const { items } = await list(query, globex)
          ids.push(...items.map(({ id }: { id: string }) => id))
        }
        return ids
      }
      const ascending = await all('asc')
      expect(new Set(ascending).size).toBe(2001)
      expect((await all('desc')).reverse()).toEqual(ascending)
    },
  )

  it.each(['email', 'created_at', 'storage_used', 'last_login'])(
    'is equal for the platform after any other page, sorted by %s',
    async (column) => {
      const platform = await app.key(null, { scope: 'platform' })
      const read = async (pages: number[]) => {
        const found = new Map<number, string[]>()
        for (const page of pages) {
          const query = `domain_id=${globex.domainId}&sort_by=${column}&per_page=100&page=${page}`
          const { items, pagination } = await list(query, platform)
          expect(pagination.total).toBe(2001)
          found.set(
            page,
            items.map(({ id }: { id: string }) => id),
          )
        }
        return pages.toSorted((a, b) => a - b).flatMap((page) => found.get(page) ?? [])
      }
      const pages = Array.from({ length: 21 }, (_, index) => index + 1)
      const forwards = await read(pages)
      expect(new Set(forwards).size).toBe(2001)
      expect(await read(pages.toReversed())).toEqual(forwards)
      expect(await read([20, 19, 21])).toEqual(forwards.slice(1800))
    },
  )

  it('is exact at the end of the list', async () => {
    const last = await list('page=11&per_page=200', globex)
    expect(last.pagination).toMatchObject({ total: 2001, total_pages: 11 })
    expect(last.items).toHaveLength(1)
  })

  it('is the first page in the domain detail too, with the same fields', async () => {
    const { body } = await globex.get(`/api/v1/domains/${globex.domainId}`)
    expect(body.data.email_accounts).toHaveLength(50)
    const [{ domain_name, organization_name, ...first }] = (await list('per_page=1', globex)).items
    expect(body.data.email_accounts[0]).toEqual(first)
    expect({ domain_name, organization_name }).toEqual({
      domain_name: 'globex.test',
      organization_name: expect.any(String),
    })
  })

  it.each(['asc', 'desc'])('is sorted for a search with many matches: %s', async (dir) => {
    const emails: string[] = []
    for (let page = 1; page <= 11; page++) {
      const found = await list(`q=GLOBEX&sort_dir=${dir}&per_page=200&page=${page}`, globex)
      expect(found.pagination).toMatchObject({ total: 2001, total_pages: 11 })
      emails.push(...found.items.map(({ email }: { email: string }) => email))
    }
    expect(new Set(emails).size).toBe(2001)
    expect(emails).toEqual(dir === 'asc' ? emails.toSorted() : emails.toSorted().reverse())
  })

  it('does not contain the matches of another tenant for the same search', async () => {
    expect((await list('q=globex')).pagination.total).toBe(0)
  })

  it('contains a mailbox that was just created, for a search with many matches', async () => {
    await list('q=globex', globex)
    await insertMailbox(app, globex, { email: 'aaa-first@globex.test' })
    expect((await list('q=globex', globex)).emails[0]).toBe('aaa-first')
  })
})
