import { ulid } from '../../src/lib/ulid.ts'
import { type App, INTERNAL_TOKEN, newIp } from './app.ts'
import type { Answer } from './http.ts'

type Call = (method: string, path: string) => Promise<Answer>

/** One caller of every kind, each with its own credential. */
export async function everyCaller(app: App): Promise<Record<string, () => Promise<Call>>> {
  const tenant = await app.tenant('tenant')
  const { db } = app.core
  const reader = ulid()
  await db
    .insertInto('dashboard_users')
    .values({
      id: reader,
      organization_id: tenant.organizationId,
      email: 'reader@tenant.test',
      password_hash: '',
      role: 'read_only',
    })
    .execute()
  const operators = new Map<string, string>()
  for (const role of ['support', 'operator', 'admin', 'owner'] as const) {
    operators.set(role, (await app.operator(role)).id)
  }
  const idOf = (role: string) => operators.get(role) as string

  const bearing =
    (headers: Record<string, string>, from?: string): Call =>
    (method, path) =>
      app.send(method, path, { headers, ...bodyOf(method), ...(from && { from }) })
  const withKey = async (more: Parameters<App['key']>[1], organizationId: string | null) =>
    bearing({ 'x-api-key': (await app.key(organizationId, more)).apiKey })

  type Kind = Parameters<App['session']>[0]
  const session = async (kind: Kind, id: string, more?: Parameters<App['session']>[2]) => {
    const { call } = await app.session(kind, id, more)
    const answer: Call = (method, path) => call(method, path, bodyOf(method).body)
    return answer
  }
  const withoutCsrf = async (kind: Kind, id: string) => {
    const { jar } = await app.session(kind, id)
    const answer: Call = (method, path) => app.send(method, path, { jar, ...bodyOf(method) })
    return answer
  }
  const expired = async (kind: Kind, id: string) => {
    const { call, id: sessionId } = await app.session(kind, id)
    await db
      .updateTable('sessions')
      .set({ expires_at: app.clock.now().toISOString() })
      .where('id', '=', sessionId)
      .execute()
    const answer: Call = (method, path) => call(method, path, bodyOf(method).body)
    return answer
  }

  return {
    nobody: async () => bearing({}),
    'internal service': async () => bearing({ 'x-internal-token': INTERNAL_TOKEN }),
    'garbage key': async () => bearing({ 'x-api-key': 'garbage' }, newIp()),
    'expired key': () => withKey({ expiresAt: new Date(0) }, tenant.organizationId),
    'read-only key': () => withKey({ permissions: { read_only: true } }, tenant.organizationId),
    'tenant key': () => withKey({}, tenant.organizationId),
    'admin key': () => withKey({ permissions: { admin_access: true } }, tenant.organizationId),
    'platform key': () => withKey({ scope: 'platform' }, null),
    'read-only platform key': () =>
      withKey({ scope: 'platform', permissions: { read_only: true } }, null),
    'read-only dashboard session': () => session('dashboard', reader),
    'partial dashboard session': () => session('dashboard', tenant.userId, { partial: true }),
    'dashboard session': () => session('dashboard', tenant.userId),
    'dashboard session without CSRF': () => withoutCsrf('dashboard', tenant.userId),
    'expired dashboard session': () => expired('dashboard', tenant.userId),
    'mailbox cookie': () => session('mailbox', tenant.accountId),
    'mailbox cookie without CSRF': () => withoutCsrf('mailbox', tenant.accountId),
    'mailbox bearer': async () => {
      const { token } = await app.session('mailbox', tenant.accountId)
      return bearing({ authorization: `Bearer ${token}` })
    },
    'expired mailbox session': () => expired('mailbox', tenant.accountId),
    'partial operator': () => session('operator', idOf('owner'), { partial: true }),
    support: () => session('operator', idOf('support')),
    operator: () => session('operator', idOf('operator')),
    admin: () => session('operator', idOf('admin')),
    owner: () => session('operator', idOf('owner')),
    'owner without CSRF': () => withoutCsrf('operator', idOf('owner')),
    'expired operator session': () => expired('operator', idOf('owner')),
    'owner from another address': async () => {
      const { call } = await app.session('operator', idOf('owner'))
      const from = newIp()
      return (method, path) => call(method, path, bodyOf(method).body, { from })
    },
  }
}

/** An empty body: an accepted caller gets a validation error and changes nothing. */
const bodyOf = (method: string): { body?: object } => (method === 'GET' ? {} : { body: {} })
