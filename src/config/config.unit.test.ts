import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig, variables } from './index.ts'

describe('a malformed environment variable', () => {
  it.each([
    ['PORT', ['x', '-1', '65536', '80.5', '0x50', '1e3']],
    ['DATABASE_URL', ['mysql://x', 'localhost', 'postgres']],
    ['DATABASE_POOL', ['1', '501', 'many']],
    ['REDIS_URL', ['http://x', 'x', 'redis+sentinel://one,two']],
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
  ])('is rejected with a message that names it and the expected value: %s', (name, values) => {
    expect(Object.keys(variables)).toContain(name)
    for (const value of values) {
      expect(() => readConfig({ [name]: value }), value).toThrow(
        new RegExp(`^${name} must be .+, but is "`),
      )
    }
  })

  it('is reported without the password that it holds', () => {
    const messageFor = (name: string, value: string) => {
      try {
        readConfig({ [name]: value })
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(messageFor('DATABASE_URL', 'postgre://me:hunter2/x@db/mail')).toBe(
      'DATABASE_URL must be an address that starts with postgres:// or postgresql://, but is "postgre://…@db/mail"',
    )
    expect(messageFor('SVC_SECRET_KEY', 'hunter2')).not.toContain('hunter2')
  })
})

describe('readConfig', () => {
  it('returns the defaults for an empty environment and for empty variables', () => {
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

  it('reads every type of value', () => {
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

  it('has a description for every variable', () => {
    for (const [name, { description }] of Object.entries(variables)) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
      expect(description).toMatch(/^[A-Z].+[^.]$/)
    }
  })
})

describe('the login of the relay for system mail (B8)', () => {
  const login = { SMTP_HOST: 'relay.test', SMTP_USER: 'ops' }

  it('is read with a password or with a file that holds it', () => {
    expect(readConfig({ ...login, SMTP_PASSWORD: 'x' })).toMatchObject({ SMTP_USER: 'ops' })
    expect(readConfig({ ...login, SMTP_PASSWORD_FILE: '/run/secrets/smtp' }).SMTP_TLS).toBe(
      'opportunistic',
    )
  })

  it.each([
    [{ ...login }, /^SMTP_USER must be set together with SMTP_PASSWORD or SMTP_PASSWORD_FILE/],
    [{ SMTP_USER: 'ops', SMTP_PASSWORD: 'x' }, /^SMTP_USER must be set together with SMTP_HOST/],
    [{ SMTP_HOST: 'h', SMTP_PASSWORD: 'hidden' }, /^SMTP_PASSWORD must be set together with/],
    [
      { ...login, SMTP_PASSWORD: 'hidden', SMTP_PASSWORD_FILE: '/f' },
      /^SMTP_PASSWORD must be unset when SMTP_PASSWORD_FILE is set, but is "…"$/,
    ],
  ])('is refused when it is incomplete: %j', (environment, message) => {
    expect(() => readConfig(environment)).toThrow(message)
  })
})

describe('B7.6: the operating contract', () => {
  it('reads POSTFIX_LOG_FILE as the older name of MAIL_LOG_FILE', () => {
    const logFile = (environment: NodeJS.ProcessEnv) =>
      readConfig(environment).mailServers.MAIL_LOG_FILE
    expect(logFile({ POSTFIX_LOG_FILE: '/var/log/maillog' })).toBe('/var/log/maillog')
    expect(logFile({ POSTFIX_LOG_FILE: '/old', MAIL_LOG_FILE: '/new' })).toBe('/new')
    expect(logFile({ POSTFIX_LOG_FILE: ' ' })).toBeUndefined()
  })

  it('needs the key of the bucket, and an age recipient where one is named', () => {
    expect(() => readConfig({ S3_BUCKET: 'mail', S3_ACCESS_KEY: 'name' })).toThrow(
      'S3_BUCKET must be set together with S3_ACCESS_KEY and S3_SECRET_KEY, but is "mail"',
    )
    expect(() => readConfig({ DR_AGE_RECIPIENT: 'age1nonsense' })).toThrow(
      'DR_AGE_RECIPIENT must be an age recipient that starts with age1',
    )
    const { S3_REGION } = readConfig({ S3_BUCKET: 'b', S3_ACCESS_KEY: 'n', S3_SECRET_KEY: 's' })
    expect(S3_REGION).toBe('us-east-1')
  })
})

it('B4.9: tracking needs the public URL that links in mail lead to', () => {
  expect(() => readConfig({ TRACKING_ENABLED: 'true' })).toThrow(
    /^TRACKING_ENABLED must be false unless SVC_PUBLIC_URL is set/,
  )
  const SVC_PUBLIC_URL = 'https://panel.example.test'
  expect(readConfig({ TRACKING_ENABLED: 'true', SVC_PUBLIC_URL }).TRACKING_ENABLED).toBe(true)
})
