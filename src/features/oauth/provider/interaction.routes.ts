import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults } from 'oidc-provider'
import { none } from '../../../access/labels.ts'
import type { Current } from './current-provider.ts'
import * as pages from './interaction.pages.ts'
import type { Interaction, InteractionService } from './interaction.service.ts'
import { pageHeaders } from './page.ts'
import { INTERACTION } from './routes.ts'

const MAX_FORM = 16_384
const route = { config: { auth: none() }, schema: { hide: true } }
const DENIED = { error: 'access_denied', error_description: 'The holder denied the access' }

interface Needs {
  current(): Promise<Current>
  interactions: InteractionService
  admit(request: FastifyRequest): void
}

interface Running {
  request: FastifyRequest
  reply: FastifyReply
  details: Interaction
  context: pages.Context
  keepsAccess: boolean
}

/** The pages on which a holder signs in and allows a program what it asks for. */
export const interactionRoutes =
  (needs: Needs): FastifyPluginAsync =>
  async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    app.get(`${INTERACTION}/:uid`, {
      ...route,
      handler: (request, reply) => inInteraction(needs, request, reply, show),
    })
    app.post(`${INTERACTION}/:uid`, {
      ...route,
      handler: (request, reply) => inInteraction(needs, request, reply, take),
    })
  }

/** Only the browser that began a sign-in has its cookie. */
async function inInteraction(
  needs: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (needs: Needs, running: Running) => Promise<FastifyReply>,
) {
  needs.admit(request)
  const acceptLanguage = request.headers['accept-language']
  const expired = () =>
    reply.code(400).headers(pageHeaders()).send(pages.messagePage(acceptLanguage, 'expired'))
  try {
    const { provider } = await needs.current()
    const details = await provider.interactionDetails(request.raw, reply.raw)
    const program = await needs.interactions.program(String(details.params.client_id))
    if (!program || details.uid !== (request.params as { uid: string }).uid) return expired()
    const { brand, keepsAccess, name } = program
    const context = { acceptLanguage, brand, clientName: name }
    return await work(needs, { request, reply, details, context, keepsAccess })
  } catch (error) {
    const { errors } = await import('oidc-provider')
    if (error instanceof errors.SessionNotFound) return expired()
    throw error
  }
}

const send = ({ details, reply }: Running, page: string, status = 200) =>
  reply
    .code(status)
    .headers(pageHeaders(details.params.redirect_uri as string | undefined))
    .send(page)

async function finish({ current }: Needs, { request, reply }: Running, result: InteractionResults) {
  const more = { mergeWithLastSubmission: result.error === undefined }
  const { provider } = await current()
  const to = await provider.interactionResult(request.raw, reply.raw, result, more)
  return reply.header('cache-control', 'no-store').redirect(to, 303)
}

async function show(needs: Needs, running: Running): Promise<FastifyReply> {
  const { prompt, params, session } = running.details
  if (prompt.name === 'login') {
    const hint = typeof params.login_hint === 'string' ? params.login_hint : ''
    return send(running, pages.signInPage(running.context, hint))
  }
  const accountId = session?.accountId ?? ''
  const email = await needs.interactions.emailOf(accountId)
  if (!email || !(await needs.interactions.mayUse(String(params.client_id), accountId))) {
    const { acceptLanguage } = running.context
    return send(running, pages.messagePage(acceptLanguage, 'foreign'), 403)
  }
  const page = pages.consentPage(running.context, {
    email,
    scopes: String(params.scope ?? '').split(' '),
    keepsAccess: running.keepsAccess,
  })
  return send(running, page)
}

async function take(needs: Needs, running: Running): Promise<FastifyReply> {
  const { details } = running
  const body = (running.request.body ?? {}) as Record<string, string>
  if (details.prompt.name === 'login') return takeSignIn(needs, running, body)
  if (body.consent !== 'yes') return finish(needs, running, DENIED)
  const accountId = details.session?.accountId ?? ''
  if (!(await needs.interactions.mayUse(String(details.params.client_id), accountId))) {
    return finish(needs, running, DENIED)
  }
  const { provider } = await needs.current()
  const grantId = await needs.interactions.grant(provider, details)
  return finish(needs, running, { consent: { grantId } })
}

async function takeSignIn(needs: Needs, running: Running, body: Record<string, string>) {
  const { context, details, request } = running
  const { caller } = request
  const clientId = String(details.params.client_id)
  const { code = '', email = '', password = '', proof } = body
  const result =
    proof === undefined
      ? await needs.interactions.signIn(caller, details.uid, clientId, email, password)
      : await needs.interactions.enterCode(caller, details.uid, clientId, proof, code.trim())
  if ('accountId' in result) {
    const { accountId } = result
    return finish(needs, running, { login: { accountId, remember: false } })
  }
  if ('proof' in result) return send(running, pages.codePage(context, result.proof))
  const status = result.problem === 'wait' ? 429 : result.problem === 'unavailable' ? 503 : 401
  return send(running, pages.signInPage(context, email, result.problem), status)
}
