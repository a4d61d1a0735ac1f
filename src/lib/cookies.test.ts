import { describe, expect, it } from 'vitest'
import { readCookie, setCookie } from './cookies.ts'

describe('a cookie', () => {
  it.each([
    [undefined],
    [''],
    ['other=1'],
    ['xsvc_session=1'],
    ['other=svc_session=1'],
    ['svc_session'],
    ['svc_session='],
    ['svc_session=; a=1'],
    ['svc_session_2=1'],
    ['a=1; svc_sessions=2'],
  ])('is not found in %j', (header) => {
    expect(readCookie(header, 'svc_session')).toBeUndefined()
  })

  it.each([
    ['svc_session=abc'],
    ['svc_session=abc; a=1'],
    ['a=1; svc_session=abc'],
    ['a=1; svc_session=abc; b=2'],
    ['xsvc_session=0; svc_session=abc'],
    ['svc_session=abc; svc_session=second'],
  ])('is found in %j', (header) => {
    expect(readCookie(header, 'svc_session')).toBe('abc')
  })

  it('keeps what its value holds', () => {
    expect(readCookie('t=a=b==; x=1', 't')).toBe('a=b==')
  })

  it('is set for the whole site, hidden from scripts and plain HTTP when asked', () => {
    const strict = { httpOnly: true, secure: true, maxAgeSeconds: 60 }
    expect(setCookie('a', 'x', strict)).toBe(
      'a=x; Path=/; SameSite=Lax; Max-Age=60; HttpOnly; Secure',
    )
    expect(setCookie('a', '', { httpOnly: false, secure: false, maxAgeSeconds: 0 })).toBe(
      'a=; Path=/; SameSite=Lax; Max-Age=0',
    )
  })
})
