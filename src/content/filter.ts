import { timingSafeEqual } from 'node:crypto'
import type { Senders } from '../features/rate-limiter/senders.ts'
import type { Log } from '../log.ts'
import type { HandOver } from '../mail/handover.ts'
import { ORIGIN_HEADER } from '../mail/origin.ts'
import { bounceOf } from './bounce.ts'
import type { Answer, Arrived } from './envelope.ts'
import { type Header, headersOf, headerValue, withHeaders } from './headers.ts'
import { Later } from './later.ts'
import { type Filtered, runStages } from './run-stages.ts'
import type { Passing, Stage } from './stage.ts'

interface Needs {
  stages: readonly Stage[]
  senders: Pick<Senders, 'find'>
  handOver: HandOver
  hostname: string
  originKey: string
  now: () => Date
  log: Log
}

const LATER = '4.3.0 the message cannot be looked at now, try again later'

/**
 * Takes a message from Postfix and answers for it once the next door of Postfix has taken all that
 * became of it. Whatever goes wrong before means: try again later. So nothing is lost, and at worst
 * something is delivered twice.
 */
export function contentFilter(needs: Needs) {
  const { stages, senders, handOver, log } = needs

  /** By organization: each has its own rules. */
  async function partsOf(arrived: Arrived): Promise<Passing[]> {
    const { raw, login } = withoutOrigin(arrived.raw, needs.originKey)
    const recipients = arrived.recipients.map(({ address }) => address)
    const common = { sender: arrived.sender, login, clientIp: arrived.client.address, raw }
    if (login !== undefined) {
      const sender = await senders.find(login.toLowerCase(), 'outbound')
      if (!sender) throw new Later('the login is not known here')
      const { organizationId } = sender
      return [{ ...common, direction: 'outbound', organizationId, recipients }]
    }
    const byOrganization = new Map<string, string[]>()
    for (const recipient of recipients) {
      const host = await senders.find(recipient.toLowerCase(), 'inbound')
      // Postfix has just taken it for one of ours: next time it will know better.
      if (!host) throw new Later(`the domain of ${recipient} is not hosted here`)
      const others = byOrganization.get(host.organizationId) ?? []
      byOrganization.set(host.organizationId, [...others, recipient])
    }
    return [...byOrganization].map(([organizationId, own]) => ({
      ...common,
      direction: 'inbound' as const,
      organizationId,
      recipients: own,
    }))
  }

  async function deliver(arrived: Arrived, message: Passing): Promise<Answer> {
    const known = new Map(arrived.recipients.map((one) => [one.address, one.parameters]))
    const { reply } = await handOver({
      sender: message.sender,
      parameters: arrived.parameters,
      recipients: message.recipients.map((address) => ({
        address,
        parameters: known.get(address) ?? [],
      })),
      login: message.direction === 'outbound' ? message.login : undefined,
      client: arrived.client,
      content: message.raw,
    })
    const last = reply.split(/\r?\n/).at(-1) ?? ''
    return { code: Number(last.slice(0, 3)) || 451, text: last.slice(4) || LATER }
  }

  async function answerFor(arrived: Arrived): Promise<Answer> {
    const results: Filtered[] = []
    // All of it is decided before any of it is handed on.
    for (const part of await partsOf(arrived)) results.push(await runStages(stages, part))
    const refused = results.flatMap((result) => result.refused)
    const passed = results.flatMap((result) => result.passed)
    const isHeld = results.some(({ held }) => held.length > 0)
    const [first] = refused
    if (first && passed.length === 0 && !isHeld) return { code: 554, text: refusal(first.text) }
    let answer: Answer = { code: 250, text: '2.0.0 Ok' }
    for (const message of passed) {
      answer = await deliver(arrived, message)
      if (answer.code >= 400) return answer
    }
    // There is one answer for all recipients; who was refused while others were not is told by mail.
    if (first) await bounce(arrived, refused)
    return answer
  }

  async function bounce(arrived: Arrived, refused: Filtered['refused']): Promise<void> {
    if (arrived.sender === '') return
    const { accepted, reply } = await handOver({
      sender: '',
      parameters: ['BODY=8BITMIME'],
      recipients: [{ address: arrived.sender, parameters: [] }],
      login: undefined,
      client: {},
      content: bounceOf(arrived, refused, needs),
    })
    if (!accepted) log.warn({ reply }, 'a refusal could not be told to the sender')
  }

  return async (arrived: Arrived): Promise<Answer> => {
    try {
      return await answerFor(arrived)
    } catch (error) {
      if (error instanceof Later) return { code: 451, text: `4.7.1 ${plain(error.message)}` }
      log.error({ err: error, alert: true }, 'a message could not be filtered; it is to come again')
      return { code: 451, text: LATER }
    }
  }
}

/** What a rule says is text of people: it stays on its line, and in plain letters. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 400)
const refusal = (text: string): string =>
  /^5\.\d{1,3}\.\d{1,3} /.test(text) ? plain(text) : `5.7.1 ${plain(text)}`

/** Only what has the key was said by Postfix; whatever else has that name goes as well. */
function withoutOrigin(raw: Buffer, key: string): { raw: Buffer; login: string | undefined } {
  const name = ORIGIN_HEADER.toLowerCase()
  const headers = headersOf(raw)
  const own = headers.filter((header) => header.name === name)
  const login = own.map((header) => loginIn(header, key)).find((one) => one !== undefined)
  const others = headers.filter((header) => header.name !== name)
  return { raw: own.length === 0 ? raw : withHeaders(raw, others), login }
}

function loginIn(header: Header, key: string): string | undefined {
  const [given = '', ...login] = (headerValue([header], header.name) ?? '').split(' ')
  const [one, other] = [Buffer.from(given), Buffer.from(key)]
  return one.length === other.length && timingSafeEqual(one, other) ? login.join(' ') : undefined
}
