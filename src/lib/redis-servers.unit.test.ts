import { describe, expect, it } from 'vitest'
import { parseRedisServers } from './redis-servers.ts'

describe('parseRedisServers', () => {
  it.each(['redis://127.0.0.1', 'rediss://user:secret@redis.example:6380/2'])(
    'takes the URL of one server as it is: %s',
    (url) => {
      expect(parseRedisServers(url)).toEqual({ kind: 'one', url })
    },
  )

  it('reads Sentinels, the name of the primary, its database and its login', () => {
    expect(
      parseRedisServers('redis+sentinel://mail:p%40ss:word@one,two:5000,[::1]/primary/3'),
    ).toEqual({
      kind: 'sentinel',
      nodes: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 5000 },
        { host: '::1', port: 26_379 },
      ],
      primary: 'primary',
      database: 3,
      username: 'mail',
      password: 'p@ss:word',
      isEncrypted: false,
    })
  })

  it('reads the nodes of a Cluster, with TLS', () => {
    expect(parseRedisServers('rediss+cluster://:secret@one,two:7001')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'one', port: 6379 },
        { host: 'two', port: 7001 },
      ],
      username: undefined,
      password: 'secret',
      isEncrypted: true,
    })
  })

  it.each([
    'redis',
    'http://one',
    'redis+sentinel://one,two',
    'redis+sentinel://one,/primary',
    'redis+sentinel://one:x/primary',
    'redis+sentinel://one/primary/x',
    'redis+sentinel://%ff@one/primary',
    'redis+cluster://',
    'redis+cluster://one/2',
    'redis+other://one',
    'redis+cluster://a@b@c',
  ])('rejects a malformed URL: %s', (url) => {
    expect(parseRedisServers(url)).toBeUndefined()
  })
})
