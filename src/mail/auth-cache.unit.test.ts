import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Doveadm, type Mood, startDoveadm } from '../../test/support/doveadm.ts'
import { mailServersOf } from '../../test/support/mail-server-settings.ts'
import { authCache, persistentCache } from './auth-cache.ts'
import { doveadm as doveadmClient } from './doveadm.ts'

let doveadm: Doveadm
beforeEach(async () => {
  doveadm = await startDoveadm('the key')
})
afterEach(() => doveadm.stop())

const log = { warn: () => {} }
const cache = (DOVEADM_URL = '', DOVEADM_API_KEY = 'the key') =>
  authCache(doveadmClient(mailServersOf({ DOVEADM_URL, DOVEADM_API_KEY })), log, 1)

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

describe('flushing persistently', () => {
  it('flushes again what Dovecot did not confirm, once', async () => {
    const persistent = persistentCache(cache(doveadm.url), { isConfigured: true })
    doveadm.state.mood = 'garbage'
    expect(await persistent.flush(['one'])).toBe(false)
    expect(await persistent.flush(['two'])).toBe(false)
    doveadm.state.mood = 'well'
    doveadm.asked.length = 0
    expect(await persistent.flush(['three'])).toBe(true)
    expect(doveadm.flushed()).toEqual(['one', 'two', 'three'])
    expect(await persistent.flush([])).toBe(true)
    expect(doveadm.asked).toHaveLength(1)
  })

  it('remembers nothing while no Dovecot is configured', async () => {
    const dovecot = { isConfigured: false }
    const persistent = persistentCache(cache(doveadm.url), dovecot)
    expect(await persistent.flush(['one'])).toBe(false)
    dovecot.isConfigured = true
    expect(await persistent.flush([])).toBe(true)
    expect(doveadm.asked).toEqual([])
  })
})
