import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Doveadm, type Mood, startDoveadm } from '../../test/support/doveadm.ts'
import { authCache } from './auth-cache.ts'

let doveadm: Doveadm
beforeEach(async () => {
  doveadm = await startDoveadm('the key')
})
afterEach(() => doveadm.stop())

const log = { warn: () => {} }
const cache = (DOVEADM_URL: string | undefined, DOVEADM_API_KEY = 'the key') =>
  authCache({ DOVEADM_URL, DOVEADM_API_KEY }, log, 0.1)

describe('flushing the login cache', () => {
  it('says so when there is no Dovecot, or nobody listens', async () => {
    expect(await cache(undefined).flush(['one'])).toBe(false)
    await doveadm.stop()
    expect(await cache(doveadm.url).flush(['one'])).toBe(false)
    doveadm = await startDoveadm('the key')
  })

  it.each<[Mood]>([['unknown command'], ['wrong key'], ['garbage'], ['never']])(
    'tries twice, then gives up without throwing, when it is answered: %s',
    async (mood) => {
      doveadm.state.mood = mood
      expect(await cache(doveadm.url).flush(['one'])).toBe(false)
      expect(doveadm.asked).toHaveLength(2)
    },
  )

  it('is not believed with another key', async () => {
    expect(await cache(doveadm.url, 'another key').flush(['one'])).toBe(false)
  })

  it('asks nothing when there is nobody to forget: Dovecot would not survive it', async () => {
    expect(await cache(doveadm.url).flush([])).toBe(false)
    expect(doveadm.asked).toEqual([])
  })

  it('names the logins in one request', async () => {
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
