import { readFileSync } from 'node:fs'
import http from 'node:http'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { startReceiver } from '../../test/support/receiver.ts'
import { outboundGuard } from './guard.ts'
import { poster } from './post.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

/** A poster with a resolver that returns the next entry of the list for each look-up. */
function guarded(names: Record<string, string[][]> = {}, allow: string[] = []) {
  const asked: string[] = []
  const guard = outboundGuard({
    allow,
    async resolve(name) {
      asked.push(name)
      const answers = names[name] ?? []
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    },
  })
  const client = poster({ timeoutSeconds: 2, guard })
  cleanUps.push(client.close)
  return { guard, asked, post: (url: string) => client.post(url, {}, '{}') }
}

const receiver = async (where: { host?: string; port?: number } = {}) => {
  const started = await startReceiver(undefined, where)
  cleanUps.push(started.stop)
  return started
}

describe('a URL', () => {
  it.each([
    ['http://127.0.0.1/', '127.0.0.1 is a loopback'],
    ['http://127.0.0.1./', '127.0.0.1 is a loopback'],
    ['http://127.0.0.1../', '127.0.0.1 is a loopback'],
    ['http://127.1/', '127.0.0.1 is a loopback'],
    ['http://2130706433/', '127.0.0.1 is a loopback'],
    ['http://0x7f000001/', '127.0.0.1 is a loopback'],
    ['http://0x7f.0.0.1/', '127.0.0.1 is a loopback'],
    ['http://0177.0.0.1/', '127.0.0.1 is a loopback'],
    ['http://①②⑦.⓪.⓪.①/', '127.0.0.1 is a loopback'],
    ['http://127。0。0。1/', '127.0.0.1 is a loopback'],
    ['http://0/', '0.0.0.0 is an unspecified'],
    ['https://169.254.169.254/latest/meta-data', '169.254.169.254 is a link-local'],
    ['http://[::1]:8080/', '::1 is a loopback'],
    ['http://[::]/', ':: is an unspecified'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1 is a loopback'],
    ['http://[64:ff9b::10.0.0.1]/', '64:ff9b::a00:1 is a private'],
    ['http://localhost/', 'localhost leads to a loopback'],
    ['http://LOCALHOST./', 'localhost leads to a loopback'],
    ['http://any.localhost/', 'any.localhost leads to a loopback'],
  ])('%s is refused without a look-up', async (url, why) => {
    const { guard, post } = guarded()
    const problem = `Refused: ${why} address, which is called only when SVC_OUTBOUND_ALLOW has it`
    expect(guard.problemOf(url)).toBe(problem)
    expect(await post(url)).toEqual({ status: 0, error: problem })
  })

  it.each([
    ['https://user@hooks.test/', 'must not hold a user name or a password'],
    ['https://:secret@hooks.test/', 'must not hold a user name or a password'],
    ['http://hooks.test@127.0.0.1/', 'must not hold a user name or a password'],
    ['ftp://hooks.test/', 'must start with http:// or https://'],
    ['file:///etc/passwd', 'must start with http:// or https://'],
    ['nonsense', 'must start with http:// or https://'],
  ])('%s is refused because of its scheme or login', async (url, why) => {
    expect(await guarded().post(url)).toEqual({ status: 0, error: `Refused: the URL ${why}` })
  })

  it('with a public IP address or a name is accepted before the look-up', () => {
    const { guard } = guarded()
    for (const url of ['https://1.1.1.1/', 'https://[2600::1]/', 'https://hooks.test:8443/a?b']) {
      expect(guard.problemOf(url)).toBeUndefined()
    }
  })
})

describe('a name', () => {
  it('is refused when any of its IP addresses is, without naming the IP address', async () => {
    const { post } = guarded({ 'mixed.test': [['1.1.1.1', '10.1.2.3']] })
    expect(await post('http://mixed.test/')).toEqual({
      status: 0,
      error: 'Refused: mixed.test has no public address in DNS',
    })
  })

  it('without an IP address has the same error as one that leads inside (S21)', async () => {
    const { post } = guarded({ 'inside.test': [['10.1.2.3']], 'local.test': [['127.0.0.1']] })
    for (const name of ['nowhere.test', 'inside.test', 'local.test']) {
      expect(await post(`http://${name}/`)).toEqual({
        status: 0,
        error: `Refused: ${name} has no public address in DNS`,
      })
    }
  })

  it('is resolved once, and the request goes to that IP address even when DNS changes', async () => {
    const allowed = await receiver()
    const inside = await receiver({ host: '127.0.0.2', port: allowed.port })
    const { post, asked } = guarded({ 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] }, [
      '127.0.0.1/32',
    ])
    const url = `http://rebind.test:${allowed.port}/`
    allowed.state.reply = (_received, response) => response.setHeader('connection', 'close').end()
    expect(await post(url)).toEqual({ status: 200, error: null })
    expect(asked).toEqual(['rebind.test'])
    expect(allowed.got[0]?.headers.host).toBe(`rebind.test:${allowed.port}`)
    expect(await post(url)).toMatchObject({
      status: 0,
      error: 'Refused: rebind.test has no public address in DNS',
    })
    expect(inside.got).toEqual([])
  })

  it('with a trailing dot is treated as the name without it', async () => {
    const allowed = await receiver()
    const { post, asked } = guarded({ 'dot.test': [['127.0.0.1']] }, ['127.0.0.0/8'])
    expect((await post(`http://dot.test.:${allowed.port}/`)).status).toBe(200)
    expect(asked).toEqual(['dot.test'])
  })

  it('is accepted when it resolves to an allowed network, also as IPv4-mapped IPv6', async () => {
    const { guard } = guarded({}, ['10.1.0.0/16'])
    expect(guard.problemOf('http://10.1.2.3/')).toBeUndefined()
    expect(guard.problemOf('http://[::ffff:10.1.2.3]/')).toBeUndefined()
    expect(guard.problemOf('http://10.2.0.1/')).toMatch('a private address')
  })
})

it('does not follow redirects', async () => {
  const inside = await receiver({ host: '127.0.0.2' })
  const front = http.createServer((_request, response) =>
    response.writeHead(307, { location: inside.url }).end(),
  )
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => front.close())
  const { port } = front.address() as { port: number }
  const { post } = guarded({}, ['127.0.0.0/8'])
  expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ status: 307, error: 'HTTP 307: ' })
  expect(inside.got).toEqual([])
})

it('sends the host name to a TLS server and rejects a self-signed certificate', async () => {
  const pem = (name: string) => readFileSync(new URL(`../../test/support/${name}`, import.meta.url))
  const asked: string[] = []
  const server = tls.createServer({
    cert: pem('tls-cert.pem'),
    key: pem('tls-key.pem'),
    SNICallback(name, done) {
      asked.push(name)
      done(null)
    },
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => server.close())
  const { port } = server.address() as { port: number }
  const { post } = guarded({ 'tls.test': [['127.0.0.1']] }, ['127.0.0.1'])
  const answer = await post(`https://tls.test.:${port}/`)
  expect(answer).toMatchObject({ status: 0, error: expect.stringMatching(/certificate/) })
  expect(asked).toEqual(['tls.test'])
})
