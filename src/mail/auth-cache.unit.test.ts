import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Doveadm, type Mood, startDoveadm } from '../../test/support/doveadm.ts'
import { mailServersOf } from '../../test/support/mail-server-settings.ts'
import { authCache } from './auth-cache.ts'
import { doveadm as doveadmClient } from './doveadm.ts'

let doveadm: Doveadm
beforeEach(async () => {
  doveadm = await startDoveadm('the key')
})
afterEach(() => doveadm.stop())

const log = { warn: () => {} }
const cache = (DOVEADM_URL = '', DOVEADM_API_KEY = 'the key') =>
  authCache(doveadmClient(mailServersOf({ DOVEADM_URL, DOVEADM_API_KEY })), log, 0.1)

describe('flushing the login cache', () => {
  it('returns false when Dovecot is not configured or not reachable', async () => {
    expect(await cache(undefined).flush(['one'])).toBe(false)
    await doveadm.stop()
    expect(await cache(doveadm.url).flush(['one'])).toBe(false)
    doveadm = await startDoveadm('the key')
  })

  it.each<[Mood]>([['unknown command'], ['wrong key'], ['garbage'], ['never']])(
    'tries twice and returns false without throwing when Dovecot answers: %s',
    async (mood) => {
      doveadm.state.mood = mood
      expect(await cache(doveadm.url).flush(['one'])).toBe(false)
      expect(doveadm.asked).toHaveLength(2)
    },
  )

  it('returns false when Dovecot rejects the API key', async () => {
    expect(await cache(doveadm.url, 'another key').flush(['one'])).toBe(false)
  })

  it('sends no request without usernames, because that would crash Dovecot', async () => {
    expect(await cache(doveadm.url).flush([])).toBe(false)
    expect(doveadm.asked).toEqual([])
  })

  it('sends all usernames in one request', async () => {
    expect(await cache(doveadm.url).flush(['one', 'two@acme.test'])).toBe(true)
    expect(doveadm.asked).toMatchObject([
      {
        method: 'POST',
        path: '/doveadm/v1',
        headers: { authorization: 'X-Dovecot-API dGhlIGtleQ==' },
        commands: [['authCacheFlush', { user: ['one', 'two@acme.test'] }, expect.any(String)]],
      },
    ])
  })
})
