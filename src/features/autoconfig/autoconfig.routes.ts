import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { none } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { ApiError } from '../../errors.ts'
import { limitAddresses } from '../../http/address-limit.ts'
import { done } from '../../http/envelope.ts'
import { parseJson } from '../../lib/json.ts'
import { AddressMissing } from './autoconfig.errors.ts'
import type { AutoconfigService } from './autoconfig.service.ts'
import { addressIn, autodiscoverError } from './autodiscover.ts'
import type { TlsRptService } from './tls-rpt/tls-rpt.service.ts'

/** An address set up in a program takes a handful of requests; a whole company behind one address more. */
const PER_MINUTE = 120
const MAX_BODY_BYTES = 64 * 1024
const REPORTS_PER_MINUTE = 30
const MAX_REPORT_BYTES = 256 * 1024

// The formats are fixed by others, so the routes are described in docs/autoconfig.md only.
const route = { config: { auth: none() }, schema: { hide: true } } as const
const Address = Type.Optional(Type.String({ maxLength: 1000 }))

/** Called by mail programs and other mail hosts, without a credential. */
export const autoconfigRoutes =
  (autoconfig: AutoconfigService, { now }: Pick<Core, 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    limitAddresses(app, now, PER_MINUTE)
    readBytes(app)

    for (const path of ['/mail/config-v1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml']) {
      app.get(path, {
        ...route,
        schema: { hide: true, querystring: Type.Object({ emailaddress: Address }) },
        handler: async (request, reply) => {
          const { emailaddress } = request.query
          const config = await autoconfig.thunderbird(emailaddress, hostOf(request))
          return sendXml(reply, config)
        },
      })
    }

    app.post('/autodiscover/autodiscover.xml', {
      ...route,
      bodyLimit: MAX_BODY_BYTES,
      handler: async ({ body }, reply) => {
        try {
          return sendXml(reply, await autoconfig.autodiscover(addressOfXml(body)))
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          const { status, message } = error
          // 600 is the code of Autodiscover for a bad request, 500 for an unknown address.
          const answer = autodiscoverError(status === 404 ? 500 : 600, message, now())
          return sendXml(reply.code(status), answer)
        }
      },
    })

    const query = { Email: Address, email: Address, Protocol: Address, protocol: Address }
    const json = async (
      request: FastifyRequest,
      reply: FastifyReply,
      address: string | undefined,
    ) => {
      const { Protocol, protocol = Protocol } = request.query as Record<string, string | undefined>
      const answer = await autoconfig.autodiscoverJson(address, protocol ?? 'IMAP')
      if (answer) return reply.send(answer)
      const refusal = {
        ErrorCode: 'ProtocolNotSupported',
        ErrorMessage: 'Offered are AutodiscoverV1, IMAP, POP3 and SMTP',
      }
      return reply.code(400).send(refusal)
    }
    const jsonRoute = {
      ...route,
      bodyLimit: MAX_BODY_BYTES,
      schema: { hide: true, querystring: Type.Object(query) },
    } as const
    app.get('/autodiscover/autodiscover.json', {
      ...jsonRoute,
      handler: (request, reply) => json(request, reply, request.query.Email ?? request.query.email),
    })
    app.get('/autodiscover/autodiscover.json/v1.0/:address', {
      ...jsonRoute,
      handler: (request, reply) =>
        json(request, reply, (request.params as { address: string }).address),
    })
    app.post('/autodiscover/autodiscover.json', {
      ...jsonRoute,
      handler: (request, reply) => json(request, reply, addressOfJson(request.body)),
    })

    app.get('/apple/:file', {
      ...route,
      handler: async (request, reply) => {
        const { file } = request.params as { file: string }
        if (!file.endsWith('.mobileconfig')) throw new ApiError(404, 'Not found')
        const address = file.slice(0, -'.mobileconfig'.length)
        return sendProfile(reply, await autoconfig.appleProfile(address))
      },
    })

    app.get('/.well-known/mta-sts.txt', {
      ...route,
      handler: async (request, reply) =>
        reply.type('text/plain; charset=utf-8').send(await autoconfig.mtaSts(hostOf(request))),
    })
  }

/** Called by other mail hosts with their reports about TLS (RFC 8460). */
export const tlsRptRoutes =
  (reports: TlsRptService, { now }: Pick<Core, 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    limitAddresses(app, now, REPORTS_PER_MINUTE)
    readBytes(app)
    app.post('/tls-rpt', {
      ...route,
      bodyLimit: MAX_REPORT_BYTES,
      handler: async ({ body }, reply) => {
        await reports.receive(Buffer.isBuffer(body) ? body : Buffer.alloc(0))
        return reply.code(201).send(done('Report stored'))
      },
    })
  }

/** Bodies are read by the handlers, whatever type the client names. */
function readBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

const hostOf = ({ hostname }: FastifyRequest): string => hostname.toLowerCase().replace(/\.$/, '')

const sendXml = (reply: FastifyReply, xml: string) =>
  reply.type('text/xml; charset=utf-8').serializer(String).send(xml)

export const sendProfile = (reply: FastifyReply, profile: Buffer) =>
  reply
    .type('application/x-apple-aspen-config')
    .header('content-disposition', 'attachment; filename="mail.mobileconfig"')
    .send(profile)

function addressOfXml(body: unknown): string | undefined {
  try {
    return addressIn(textOf(body))
  } catch (error) {
    throw new ApiError(400, `The request cannot be read: ${(error as Error).message}`)
  }
}

function addressOfJson(body: unknown): string | undefined {
  let sent: Record<string, unknown> | null
  try {
    sent = parseJson(Buffer.isBuffer(body) ? body : Buffer.alloc(0)) as typeof sent
  } catch {
    throw new AddressMissing()
  }
  const names = ['EmailAddress', 'emailaddress', 'Email', 'email']
  const value = names.map((name) => sent?.[name]).find((one) => typeof one === 'string')
  return value as string | undefined
}

const textOf = (body: unknown): string => (Buffer.isBuffer(body) ? body.toString('utf8') : '')
