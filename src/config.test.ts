import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig, variables } from './config.ts'

describe('a malformed variable', () => {
  it.each([
    ['PORT', ['x', '-1', '65536', '80.5', '0x50', '1e3']],
    ['DATABASE_URL', ['mysql://x', 'localhost', 'postgres']],
    ['DATABASE_POOL', ['1', '501', 'many']],
    ['REDIS_URL', ['http://x', 'x']],
    ['SVC_EDITION', ['Enterprise', 'free']],
    ['SVC_COOKIE_SECURE', ['on', '2', 'maybe']],
    ['SVC_SECRET_KEY', ['too short']],
    ['SVC_TRUSTED_PROXIES', ['10.0.0.0/33', 'proxy.local', '10.0.0.1;10.0.0.2']],
    ['SVC_OUTBOUND_ALLOW', ['everything']],
    ['SVC_CORS_ORIGINS', ['*', 'example.com', 'https://example.com/path', 'null']],
    ['SVC_PUBLIC_URL', ['ftp://x', 'mail.example.com']],
    ['SVC_LOG_LEVEL', ['verbose', 'INFO']],
    ['SVC_LOG_STDOUT', ['stdout']],
    ['SVC_DNS_SERVERS', ['dns.local', '192.0.2.1:99999', '[::1]:x']],
    ['IMAP_PORT', ['0', '70000']],
    ['IMAP_TLS', ['yes', 'ssl']],
    ['IMAP_TLS_VERIFY', ['never']],
    ['IMAP_AUTH_TIMEOUT', ['0', '121', 'soon']],
  ])('%s names itself and says what it wants', (name, values) => {
    expect(Object.keys(variables)).toContain(name)
    for (const value of values) {
      expect(() => readConfig({ [name]: value }), value).toThrow(
        new RegExp(`^${name} must be .+, but is "`),
      )
    }
  })

  it('does not show the password it holds', () => {
    const told = (name: string, value: string) => {
      try {
        readConfig({ [name]: value })
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(told('DATABASE_URL', 'postgre://me:hunter2/x@db/mail')).toBe(
      'DATABASE_URL must be an address that starts with postgres:// or postgresql://, but is "postgre://…@db/mail"',
    )
    expect(told('SVC_SECRET_KEY', 'hunter2')).not.toContain('hunter2')
  })
})

describe('the configuration', () => {
  it('of an empty environment, and of empty variables, is the defaults', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      HOST: '127.0.0.1',
      SVC_EDITION: 'enterprise',
      SVC_COOKIE_SECURE: true,
      SVC_CORS_ORIGINS: [],
      SVC_TRUSTED_PROXIES: [],
      DATABASE_POOL: 10,
    })
    expect(config.PORT).toBeUndefined()
    expect(config.DATABASE_URL).toBeUndefined()
    expect(config.DATA_DIR).toBe(resolve('data'))
    const empty = Object.fromEntries(Object.keys(variables).map((name) => [name, ' ']))
    expect(readConfig(empty)).toEqual(config)
  })

  it('reads every kind of value', () => {
    const config = readConfig({
      PORT: ' 8080 ',
      SVC_COOKIE_SECURE: 'FALSE',
      SVC_LOG_STDOUT: 'yes',
      SVC_EDITION: 'community',
      SVC_TRUSTED_PROXIES: '10.0.0.0/8, ::1,',
      SVC_CORS_ORIGINS: 'https://a.example.com,http://localhost:5173',
      SVC_DNS_SERVERS: '192.0.2.1, 192.0.2.1:53, [::1]:53, ::1',
      DATABASE_URL: 'postgresql://db/mail',
      SVC_SECRET_KEY: 'x'.repeat(32),
    })
    expect(config).toMatchObject({
      PORT: 8080,
      SVC_COOKIE_SECURE: false,
      SVC_LOG_STDOUT: true,
      SVC_EDITION: 'community',
      SVC_TRUSTED_PROXIES: ['10.0.0.0/8', '::1'],
      SVC_CORS_ORIGINS: ['https://a.example.com', 'http://localhost:5173'],
      SVC_DNS_SERVERS: ['192.0.2.1', '192.0.2.1:53', '[::1]:53', '::1'],
      DATABASE_URL: 'postgresql://db/mail',
    })
  })

  it('describes every variable, for the operator who looks it up', () => {
    for (const [name, { description }] of Object.entries(variables)) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
      expect(description).toMatch(/^[A-Z].+[^.]$/)
    }
  })
})
