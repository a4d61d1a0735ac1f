import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../test/support/app.ts'
import { waitFor } from '../../test/support/wait.ts'
import { AddressNotAllowed, TooManyAttempts } from './access.errors.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

type Service = 'imap' | 'dav' | 'jmap'
const verify = (email: string, password: string, service: Service = 'dav', ip = newIp()) =>
  app.core.access.mailLogins.verify({ service, email, password, ip })

async function holderOf(name: string) {
  const tenant = await app.tenant(name)
  const session = await app.session('mailbox', tenant.accountId)
  const appPassword = async (...scopes: string[]): Promise<{ id: string; password: string }> =>
    (await session.post('/api/v1/mailbox/app-passwords', { name: 'Phone', scopes })).body.data
  return { ...session, tenant, email: tenant.email, appPassword }
}

/** Turns the second factor on. */
async function enroll(email: string, id: string) {
  const { twoFactor } = app.core.access
  const holder = { kind: 'mailbox' as const, id }
  const enrollment = await twoFactor.begin(app.core.db, holder, email)
  await twoFactor.spend(app.core.db, holder, app.code(enrollment?.secret as string))
}

describe('the login of a program with HTTP Basic', () => {
  it('accepts the password of the mailbox, in any case of the address', async () => {
    const { tenant, email } = await holderOf('plain')
    const account = { id: tenant.accountId, email, organizationId: tenant.organizationId }
    expect(await verify(email, PASSWORD)).toMatchObject(account)
    expect(await verify(` ${email.toUpperCase()}`, PASSWORD)).toMatchObject(account)
    expect(await verify(email, 'wrong')).toBeUndefined()
    expect(await verify(email, '')).toBeUndefined()
    expect(await verify('nobody@plain.test', PASSWORD)).toBeUndefined()
    expect(JSON.stringify(await verify(email, PASSWORD))).not.toContain('argon2')
  })

  it('accepts an app password for its scopes only, and notes its use', async () => {
    const { email, appPassword, get } = await holderOf('scoped')
    const { password } = await appPassword('dav')
    expect(await verify(email, password)).toMatchObject({ email })
    expect(await verify(email, password, 'jmap')).toBeUndefined()
    const used = await waitFor(async () => {
      const [one] = (await get('/api/v1/mailbox/app-passwords')).body.data.items
      return one.last_used_at ? one : undefined
    })
    expect(used).toMatchObject({ last_used_service: 'dav' })
  })

  it('does not accept an app password of another mailbox', async () => {
    const { appPassword } = await holderOf('theirs')
    const { email } = await holderOf('mine')
    const { password } = await appPassword('dav')
    expect(await verify(email, password)).toBeUndefined()
  })

  it('needs an app password while a second factor is on', async () => {
    const { tenant, email, appPassword } = await holderOf('factor')
    const { password } = await appPassword('dav')
    expect(await verify(email, PASSWORD)).toMatchObject({ email })
    await enroll(email, tenant.accountId)
    await app.core.access.settled()
    expect(await verify(email, PASSWORD)).toBeUndefined()
    expect(await verify(email, password)).toMatchObject({ email })
  })

  it('ends at once with the app password, the password, the mailbox and the organization', async () => {
    const { tenant, email, appPassword, delete: remove } = await holderOf('ended')
    const { settled } = app.core.access
    const { id, password } = await appPassword('dav')
    expect(await verify(email, password)).toMatchObject({ email })
    await remove(`/api/v1/mailbox/app-passwords/${id}`)
    expect(await verify(email, password)).toBeUndefined()

    expect(await verify(email, PASSWORD)).toMatchObject({ email })
    const next = 'another-passphrase-77'
    const path = `/api/v1/mailboxes/email-accounts/${tenant.accountId}`
    await tenant.put(path, { password: next })
    await settled()
    expect(await verify(email, PASSWORD)).toBeUndefined()
    expect(await verify(email, next)).toMatchObject({ email })

    await tenant.put(path, { status: 'suspended' })
    await settled()
    expect(await verify(email, next)).toBeUndefined()
    await tenant.put(path, { status: 'active' })
    await settled()
    expect(await verify(email, next)).toMatchObject({ email })
    await sql`update organizations set active = false where id = ${tenant.organizationId}`.execute(
      app.core.db,
    )
    await settled()
    expect(await verify(email, next)).toBeUndefined()
  })

  it('is throttled after wrong passwords, and a login in memory goes on', async () => {
    const { email } = await holderOf('throttled')
    expect(await verify(email, PASSWORD)).toMatchObject({ email })
    for (let at = 0; at < 5; at++) expect(await verify(email, `wrong ${at}`)).toBeUndefined()
    await expect(verify(email, 'wrong again')).rejects.toThrow(TooManyAttempts)
    expect(await verify(email, PASSWORD)).toMatchObject({ email })
  })

  it('obeys the IP rules of the organization', async () => {
    const { tenant, email } = await holderOf('ruled')
    const from = newIp()
    expect(await verify(email, PASSWORD, 'dav', from)).toMatchObject({ email })
    const operator = await app.operator('operator')
    const rule = await operator.post('/api/v1/security/ip-rules', {
      rule_type: 'blacklist',
      ip_address: from,
      organization_id: tenant.organizationId,
      reason: 'an attack',
    })
    expect(rule.status, rule.text).toBeLessThan(300)
    await app.core.access.settled()
    await expect(verify(email, PASSWORD, 'dav', from)).rejects.toThrow(AddressNotAllowed)
    expect(await verify(email, PASSWORD)).toMatchObject({ email })
  })
})
