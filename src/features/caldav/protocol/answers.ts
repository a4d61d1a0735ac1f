import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { breather } from '../../../lib/breather.ts'
import { DECLARATIONS } from '../xml/names.ts'
import { escaped } from '../xml/write.ts'

const XML_TYPE = 'application/xml; charset=utf-8'
const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
/** A longer answer is sent while it is made. */
const MAX_BUFFERED = 256 * 1024

/** The implemented features. */
export const DAV_HEADER =
  '1, 3, access-control, calendar-access, calendar-auto-schedule, addressbook, extended-mkcol'
export const ALLOW =
  'OPTIONS, GET, HEAD, PUT, DELETE, POST, COPY, MOVE, PROPFIND, PROPPATCH, MKCOL, MKCALENDAR, REPORT'

/** A refusal in the form of the protocol: a status and, where one exists, the name of the condition. */
export class Refusal extends Error {
  readonly status: number
  /** XML of the condition that does not hold, such as `<D:valid-sync-token/>`. */
  readonly condition: string | undefined
  readonly headers: Record<string, string>

  constructor(
    status: number,
    condition?: string,
    { message = '', headers = {} }: { message?: string; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.condition = condition
    this.headers = headers
  }
}

export const href = (path: string): string => `<D:href>${escaped(path)}</D:href>`

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, condition, message } = refusal
  reply.code(status).headers(refusal.headers)
  if (condition === undefined && message === '') return reply.send()
  // A comment: programs compare the elements of an error with those that they expect.
  const comment = message === '' ? '' : `<!-- ${escaped(message.replace(/-{2,}/g, '-'))} -->`
  return reply
    .type(XML_TYPE)
    .send(`${DECLARATION}<D:error ${DECLARATIONS}>${condition ?? ''}${comment}</D:error>`)
}

export const sendXml = (reply: FastifyReply, status: number, root: string, content: string) =>
  reply
    .code(status)
    .type(XML_TYPE)
    .send(`${DECLARATION}<${root} ${DECLARATIONS}>${content}</${root}>`)

/** The entry of a resource that does not exist. */
export const missing = (path: string): string =>
  `<D:response>${href(path)}<D:status>HTTP/1.1 404 Not Found</D:status></D:response>`

/** The entry that says that the answer was cut. */
export const truncated = (path: string): string =>
  `<D:response>${href(path)}<D:status>HTTP/1.1 507 Insufficient Storage</D:status>` +
  '<D:error><D:number-of-matches-within-limits/></D:error></D:response>'

/** Sends a multistatus answer. Nothing is sent before the first pieces are made without an error. */
export async function sendMultistatus(
  reply: FastifyReply,
  pieces: AsyncGenerator<string>,
): Promise<FastifyReply> {
  reply.code(207).type(XML_TYPE)
  let start = `${DECLARATION}<D:multistatus ${DECLARATIONS}>`
  const end = '</D:multistatus>'
  while (start.length < MAX_BUFFERED) {
    const next = await pieces.next()
    if (next.done) return reply.send(start + end)
    start += next.value
  }
  const breathe = breather()
  async function* all() {
    yield start
    for await (const piece of pieces) {
      yield piece
      await breathe()
    }
    yield end
  }
  return reply.send(Readable.from(all(), { objectMode: false }))
}
