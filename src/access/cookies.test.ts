import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'

let app: App
let token: string
beforeAll(async () => {
  app = await startApp()
  const { userId } = await app.tenant('acme')
  const { jar } = await app.session('dashboard', userId)
  token = jar?.get('svc_session') as string
})
afterAll(() => app.stop())

const statusWith = async (header: string) => {
  const cookie = header.replaceAll('TOKEN', token)
  return (await app.send('GET', '/api/v1/auth/me', { headers: { cookie } })).status
}

describe('the session cookie', () => {
  it.each([
    'svc_session=TOKEN',
    'svc_session=TOKEN; a=1',
    'a=1; svc_session=TOKEN',
    'a=1;svc_session=TOKEN',
    'a=1; svc_session=TOKEN; b=2',
    'xsvc_session=0; svc_session=TOKEN',
    'svc_session=TOKEN; svc_session=second',
    'a=%; svc_session=TOKEN',
  ])('is accepted in the header "%s"', async (header) => {
    expect(await statusWith(header)).toBe(200)
  })

  it.each([
    '',
    'other=TOKEN',
    'xsvc_session=TOKEN',
    'other=svc_session=TOKEN',
    'svc_session',
    'svc_session=',
    'svc_session=; a=TOKEN',
    'svc_session_2=TOKEN',
    'a=1; svc_sessions=TOKEN',
    'svc_session=TOKEN=',
    'svc_session=first; svc_session=TOKEN',
  ])('is rejected with 401 in the header "%s"', async (header) => {
    expect(await statusWith(header)).toBe(401)
  })
})
