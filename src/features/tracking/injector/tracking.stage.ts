import { STAMP, stampMessage } from '../../../content/links/inject.ts'
import type { Mail, Outcome, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { findDomain } from '../../../hosting/tenants.repository.ts'
import { breather } from '../../../lib/breather.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { bufferOf, forThread } from '../../../lib/shared-bytes.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { MimeMessage } from '../../../mime/message.ts'
import * as tracked from '../tracked.repository.ts'
import { trackingUrls } from './tracking-urls.ts'
import type { CopyUrls } from './write.task.ts'

/** All copies of a message together; beyond this they would take too much memory. */
const MAX_BYTES = 64 * 1024 * 1024
/** Links of all copies together: each gets a signed URL. */
const MAX_LINK_URLS = 50_000
const MAX_EMAIL_ID = 255
const TIME_LIMIT_MS = 10_000

const planTask = taskIn<typeof import('./plan.task.ts')>('features/tracking/injector/plan')
const writeTask = taskIn<typeof import('./write.task.ts')>('features/tracking/injector/write')

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'now' | 'vault' | 'workers'>

/** The owner of tracked mail, by the domain of its sender. */
interface Origin {
  domain_id: string
  domain: string
}

/**
 * Adds tracking of opens and clicks to mail. Every recipient gets a copy of their own. Mail that
 * cannot be tracked is passed on unchanged.
 */
export function trackingStage({ config, db, log, now, vault, workers }: Needs): Stage {
  const urls = trackingUrls(config, vault)

  /** Undefined when tracking is off or the sender opted out. */
  async function originOf(mail: Mail): Promise<Origin | undefined> {
    const { login, organizationId, sender, isApi } = mail
    if (!config.TRACKING_ENABLED || !login || sender === '') return undefined
    const name = domainOf(sender).toLowerCase()
    if (isApi) {
      const own = await findDomain(db, organizationId, { name })
      return own?.tracking_enabled ? own : undefined
    }
    // A name with an at sign is a mailbox: people's own mail is none of our business.
    if (login.includes('@')) return undefined
    const known = await tracked.findLogin(db, login.toLowerCase())
    if (!known?.tracking_enabled || known.organization_id !== organizationId) return undefined
    if (name === known.domain) return known
    const ofSender = await findDomain(db, organizationId, { name })
    return !ofSender ? known : ofSender.tracking_enabled ? ofSender : undefined
  }

  async function untilTracked<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      log.error({ err: error }, 'a message goes on without being tracked')
      return undefined
    }
  }

  /** Signs one URL for each link of each copy, without blocking other work. */
  async function urlsOf(ids: readonly string[], links: readonly string[]): Promise<CopyUrls[]> {
    const breathe = breather()
    const all: CopyUrls[] = []
    for (const id of ids) {
      const { pixelUrl, unsubscribeUrl, linkUrl } = urls.copyOf(id)
      const linkUrls: string[] = []
      for (const [position, target] of links.entries()) {
        linkUrls.push(linkUrl(position, target))
        await breathe()
      }
      all.push({ pixelUrl, unsubscribeUrl, linkUrls })
    }
    return all
  }

  /** One message for each recipient; undefined if the message cannot be tracked. */
  async function trackedCopies(mail: Mail, origin: Origin, id: string) {
    const { message, organizationId, recipients } = mail
    const limits = { owner: organizationId, timeLimitMs: TIME_LIMIT_MS }
    const raw = forThread(message.raw)
    const plan = await workers.run(planTask, { raw, kept: urls.kept }, limits)
    if (!plan?.isTrackable) return undefined
    const { links } = plan
    const size = { recipients: recipients.length, bytes: raw.length, links: links.length }
    if (size.recipients * size.bytes > MAX_BYTES || size.recipients * size.links > MAX_LINK_URLS) {
      log.warn(size, 'too large to be tracked')
      return undefined
    }
    const given = message.field('message-id')?.replace(/^<|>$/g, '')
    const emailId = given || `${id}@${origin.domain}`
    const copies = recipients.map((recipient) => ({ id: urls.mint(), recipient }))
    const ids = copies.map((copy) => copy.id)
    const headers = { [STAMP]: id, 'Message-ID': `<${emailId}>` }
    const input = { raw, kept: urls.kept, headers, copies: await urlsOf(ids, links) }
    const written = await workers.run(writeTask, input, limits)
    const sent_at = now().toISOString()
    await tracked.insertTracked(db, {
      id,
      organization_id: organizationId,
      domain_id: origin.domain_id,
      domain: origin.domain,
      email_id: emailId.slice(0, MAX_EMAIL_ID),
      links,
      copies: copies.map((copy) => ({ ...copy, recipient: copy.recipient.toLowerCase() })),
      sent_at,
      created_at: sent_at,
    })
    return copies.map(({ recipient }, index) => ({
      ...mail,
      recipients: [recipient],
      message: new MimeMessage(bufferOf(written[index] as Uint8Array)),
    }))
  }

  return {
    name: 'tracking',
    async apply(mail: Mail): Promise<Outcome> {
      if (mail.direction === 'inbound') return passed(mail)
      const id = ulid(now().getTime())
      const origin = await untilTracked(() => originOf(mail))
      const copies = origin && (await untilTracked(() => trackedCopies(mail, origin, id)))
      if (copies) return passed(...copies)
      const message = await stampMessage(mail.message, { [STAMP]: id })
      return passed({ ...mail, message })
    },
  }
}

const passed = (...mails: Mail[]): Outcome => ({ kind: 'pass', mails })
