import * as client from 'openid-client'
import { type App, newIp, PASSWORD } from './app.ts'

export const ISSUER = 'https://id.host.test'
export const REDIRECT = 'http://127.0.0.1:43210/signed-in'

/** Sends the requests for the issuer to the listener of the app. */
const toApp =
  (app: App, ip: string) =>
  (url: string, init: RequestInit = {}) =>
    fetch(url.replace(ISSUER, app.base), {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string>), 'x-forwarded-for': ip },
    })

export interface OauthClient {
  client_id: string
  client_secret: string | null
}

/** A program that signs in with openid-client, which is certified. */
export async function programOf(app: App, { client_id, client_secret }: OauthClient) {
  const auth = client_secret === null ? client.None() : client.ClientSecretBasic(client_secret)
  const ip = newIp()
  const customFetch = toApp(app, ip) as client.CustomFetch
  const config = await client.discovery(new URL(ISSUER), client_id, {}, auth, {
    [client.customFetch]: customFetch,
  })
  config[client.customFetch] = customFetch
  return { config, ip, browser: () => browserOf(app, ip) }
}

type Browser = ReturnType<typeof browserOf>

/** A browser without scripts: it keeps cookies, follows redirects and submits forms. */
export function browserOf(app: App, ip = newIp()) {
  const jar = new Map<string, string>()
  const ask = toApp(app, ip)

  async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await ask(url, { ...init, headers: { ...init.headers, cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }

  /** Follows redirects until a page, or until one leaves the issuer. */
  async function follow(answer: Response, from: string) {
    let at = from
    let current = answer
    for (let hops = 0; hops < 20; hops++) {
      const to = current.headers.get('location')
      if (to === null) {
        return {
          url: at,
          status: current.status,
          page: await current.text(),
          left: false,
          headers: current.headers,
        }
      }
      at = new URL(to, at).href
      if (!at.startsWith(ISSUER)) {
        return { url: at, status: current.status, page: '', left: true, headers: current.headers }
      }
      current = await request(at)
    }
    throw new Error(`too many redirects, the last to ${at}`)
  }

  return {
    jar,
    open: async (url: string) => follow(await request(url), url),
    submit: async (url: string, fields: Record<string, string>) =>
      follow(
        await request(url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(fields).toString(),
        }),
        url,
      ),
  }
}

/** Signs in with the password and allows what is asked; returns where the browser went at last. */
export async function signInAndAllow(browser: Browser, start: string, email: string) {
  const signIn = await browser.open(start)
  const consent = await browser.submit(signIn.url, { email, password: PASSWORD })
  if (consent.left || consent.status !== 200) return consent
  return browser.submit(consent.url, { consent: 'yes' })
}

type Program = Awaited<ReturnType<typeof programOf>>

/** The address where the browser begins, and what the program must remember. */
export async function beginCode({ config }: Program, scope: string, redirect_uri = REDIRECT) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri,
    scope,
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, checks: { pkceCodeVerifier, expectedState } }
}

/** The whole flow: sign-in, consent, code, tokens. */
export async function tokensOf(program: Program, email: string, scope: string) {
  const { url, checks } = await beginCode(program, scope)
  const { url: back } = await signInAndAllow(program.browser(), url, email)
  return client.authorizationCodeGrant(program.config, new URL(back), checks)
}

interface Refusal {
  error?: string
  /** Of a wrong client secret, which the server answers with a challenge. */
  cause?: { parameters?: { error?: string } }[]
}

/** The OAuth error of a refused request, or the whole error when it has none; undefined on success. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (reason: Refusal) => reason.error ?? reason.cause?.[0]?.parameters?.error ?? reason,
  )
