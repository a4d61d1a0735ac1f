import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { none } from '../../../access/labels.ts'
import { credentialIn } from '../../../access/program-credentials.ts'
import type { Core } from '../../../core.ts'
import { ApiError, DatabaseAway, DatabaseUnavailable } from '../../../errors.ts'
import { endStalledReader } from '../../../http/stalled-reader.ts'
import { type LruMap, lruMap } from '../../../lib/lru-map.ts'
import { slots } from '../../../lib/slots.ts'
import { OutOfTime, PoolBusy, taskIn } from '../../../lib/worker-pool.ts'
import { type Element, isNamed, readXml, UnusableXml } from '../../../lib/xml.ts'
import type { Holder } from '../login/holder.ts'
import type { Login } from '../login/login.ts'
import { report } from '../reports/report.ts'
import { askFreeBusy } from '../scheduling/ask-free-busy.ts'
import { createDefaults } from '../store/open-collection.ts'
import { DAV, XML_LIMITS } from '../xml/names.ts'
import { ALLOW, DAV_HEADER, Refusal, sendRefusal } from './answers.ts'
import { makeCollection, proppatch } from './change-collection.ts'
import type { Handler } from './context.ts'
import { copyOrMove } from './copy-move.ts'
import { type Place, placeOf, rootPath } from './places.ts'
import { propfind } from './propfind.ts'
import { get, put, remove } from './write-object.ts'

const MAX_BODY_BYTES = 10 * 1024 * 1024
/** Larger documents are read in a worker thread. */
const MAX_XML_HERE = 16 * 1024
const XML_TIME_LIMIT_MS = 5000
const MAX_KNOWN_HOMES = 20_000
/** Requests of one holder at once. */
const MAX_REQUESTS = 8

const xmlTask = taskIn<typeof import('../xml/read-xml.task.ts')>('features/caldav/xml/read-xml')

const EXTENSIONS = ['PROPFIND', 'PROPPATCH', 'MKCOL', 'MKCALENDAR', 'REPORT', 'COPY', 'MOVE']
const WITH_XML = new Set(['PROPFIND', 'PROPPATCH', 'MKCOL', 'MKCALENDAR', 'REPORT'])
const HANDLERS: Record<string, Handler> = {
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  MKCOL: makeCollection,
  MKCALENDAR: makeCollection,
  REPORT: report,
  COPY: copyOrMove,
  MOVE: copyOrMove,
  GET: get,
  HEAD: get,
  PUT: put,
  POST: askFreeBusy,
  DELETE: remove,
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="Mail account", charset="UTF-8"' }
const route = { config: { auth: none() }, schema: { hide: true }, exposeHeadRoute: false }

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'log' | 'now' | 'workers'>

/** Everything that the programs of mailbox holders ask for. */
export const davRoutes =
  (core: Needs, login: Login): FastifyPluginAsync =>
  async (app) => {
    for (const method of EXTENSIONS) app.addHttpMethod(method, { hasBody: true })
    await app.register(homeRoutes(core, login))
    await app.register(wellKnownRoutes)
  }

/** CalDAV and CardDAV. A request is refused before its body is read unless its login is right. */
const homeRoutes =
  (core: Needs, login: Login): FastifyPluginAsync =>
  async (app) => {
    const homes = lruMap<string, true>(MAX_KNOWN_HOMES)
    const requests = slots(MAX_REQUESTS)
    const stallMs = core.config.CALDAV_STALL_SECONDS * 1000
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, readBody)
    app.setErrorHandler(answerError)
    app.decorateRequest('davHolder', null)
    app.decorateRequest('davWork', null)

    app.addHook('onRequest', async (request, reply) => {
      reply.header('dav', DAV_HEADER)
      if (request.method === 'OPTIONS') return
      request.davHolder = await signIn(login, request)
      if (reply.raw.destroyed) throw new Refusal(400, undefined, { message: 'The client has gone' })
      const release = requests.take(request.davHolder.id)
      if (!release) throw busy('This mailbox has too many requests at once; try again later')
      // The work may go on for a while after its client has gone.
      reply.raw.once('close', () => Promise.resolve(request.davWork).then(release, release))
    })
    app.addHook('onSend', (_request, reply, payload, next) => {
      endStalledReader(reply.raw, stallMs)
      next(null, payload)
    })

    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      if (request.method === 'OPTIONS') return reply.header('allow', ALLOW).send()
      request.davWork = answer(request, reply)
      return request.davWork
    }
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      const me = request.davHolder as Holder
      const place = ownPlace(request.url, me)
      await prepareHome(core, homes, me)
      const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const root = await documentIn(core, request, body, me)
      const handle = HANDLERS[request.method] as Handler
      return handle({ core, me, place, request, reply, body, root })
    }
    for (const url of ['/dav', '/dav/*']) {
      const method = [...Object.keys(HANDLERS), 'OPTIONS']
      app.route({ ...route, method, url, bodyLimit: MAX_BODY_BYTES, handler })
    }
  }

/** Clients ask the host for the place of its calendars and address books (RFC 6764). */
const wellKnownRoutes: FastifyPluginAsync = async (app) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: 64 * 1024 }, readBody)
  for (const name of ['caldav', 'caldav/', 'carddav', 'carddav/']) {
    app.route({
      ...route,
      method: ['GET', 'HEAD', 'OPTIONS', 'PROPFIND', 'REPORT'],
      url: `/.well-known/${name}`,
      handler: async (_request, reply) => reply.code(301).header('location', rootPath).send(),
    })
  }
}

function readBody(
  _request: FastifyRequest,
  body: Buffer | string,
  done: (error: Error | null, body?: unknown) => void,
): void {
  done(null, body)
}

async function signIn(login: Login, request: FastifyRequest): Promise<Holder> {
  const credential = credentialIn(request.headers.authorization)
  if (!credential) throw new Refusal(401, undefined, { headers: CHALLENGE })
  const holder = await login.holderOf(credential, request.caller.ip)
  if (!holder) throw new Refusal(401, undefined, { headers: CHALLENGE, message: WRONG })
  request.caller = { ...request.caller, kind: 'mailbox', id: holder.id, email: holder.email }
  return holder
}

const WRONG =
  'The address or the password is wrong; a mailbox with a second factor needs an app password'

/** Places of other accounts are not found, whether they exist or not. */
function ownPlace(url: string, me: Holder): Place {
  const [path = ''] = url.split('?')
  const place = placeOf(path)
  if (!place || ('account' in place && place.account !== me.id)) throw new Refusal(404)
  return place
}

async function prepareHome({ db }: Needs, homes: LruMap<string, true>, me: Holder) {
  if (homes.has(me.id)) return
  await createDefaults(db, { account_id: me.id }, me.organization_id)
  homes.set(me.id, true)
}

/** The XML of the request, checked for its form; undefined for an empty body. */
async function documentIn(
  { workers }: Pick<Needs, 'workers'>,
  { method }: FastifyRequest,
  body: Buffer,
  me: Holder,
): Promise<Element | undefined> {
  if (!WITH_XML.has(method) || body.length === 0) return undefined
  const root = await parsed(workers, body.toString('utf8'), me.organization_id)
  if (method === 'PROPFIND' && !isNamed(root, DAV, 'propfind')) throw new Refusal(400)
  return root
}

async function parsed(workers: Core['workers'], text: string, owner: string): Promise<Element> {
  const unusable = (message: string) =>
    new Refusal(400, undefined, { message: `The XML of the request cannot be used: ${message}` })
  if (text.length <= MAX_XML_HERE) {
    try {
      return readXml(text, XML_LIMITS)
    } catch (error) {
      if (error instanceof UnusableXml) throw unusable(error.message)
      throw error
    }
  }
  const result = await workers.run(xmlTask, text, { owner, timeLimitMs: XML_TIME_LIMIT_MS })
  if ('problem' in result) throw unusable(result.problem)
  return result.root
}

const busy = (message: string) =>
  new Refusal(503, undefined, { message, headers: { 'retry-after': '5' } })

/** Every error in the form of the protocol. */
function answerError(
  error: FastifyError | ApiError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof Refusal) return sendRefusal(reply, error)
  if (error instanceof DatabaseUnavailable) {
    return answerError(new DatabaseAway(), request, reply)
  }
  if (error instanceof ApiError) {
    const { status, message, headers = {} } = error
    return sendRefusal(reply, new Refusal(status, undefined, { message, headers }))
  }
  if (error instanceof OutOfTime) {
    const message = 'This takes too long to compute; ask for less at once'
    return sendRefusal(reply, new Refusal(507, '<D:number-of-matches-within-limits/>', { message }))
  }
  if (error instanceof PoolBusy) {
    const message = 'Too many requests of this kind are being computed; try again in a few seconds'
    return sendRefusal(reply, busy(message))
  }
  const { statusCode } = error as FastifyError
  if (statusCode !== undefined && statusCode < 500) {
    const message = statusCode === 413 ? 'A request has at most 10 MB' : error.message
    return sendRefusal(reply, new Refusal(statusCode, undefined, { message }))
  }
  request.log.error({ err: error, correlation_id: request.id }, 'DAV request failed unexpectedly')
  return sendRefusal(reply, new Refusal(500, undefined, { message: 'Internal server error' }))
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The mailbox that a DAV request acts for. */
    davHolder: Holder | null
    davWork: Promise<FastifyReply> | null
  }
}
