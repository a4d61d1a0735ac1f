import type { Outcome, Passing, Stage } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import { planInjection, STAMP } from './injector/inject.ts'
import * as tracked from './tracked.repository.ts'
import { trackingUrls } from './tracking-urls.ts'

/** All copies of a message together; beyond this they would take too much memory. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_EMAIL_ID = 255
const NOTHING = { opens: false, clicks: false, leaves: () => true }

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'now' | 'vault'>

/** Whose mail it is that is tracked, told by the sender's domain. */
interface Origin {
  domain_id: string
  domain: string
}

/**
 * Makes mail tell whether it was opened and what was followed. Every recipient gets a copy of their
 * own. Mail is never held up by it: what cannot be tracked goes on without.
 */
export function trackingStage({ config, db, log, now, vault }: Needs): Stage {
  const urls = trackingUrls(config, vault)
  const wishes = { opens: true, clicks: true, leaves: urls.leaves }

  /** Undefined when the mail is not to be tracked: nobody asked for it, or somebody asked not to. */
  async function originOf({ login, organizationId, sender }: Passing): Promise<Origin | undefined> {
    // A name with an at sign is a mailbox: people's own mail is none of our business.
    if (!config.TRACKING_ENABLED || !login || login.includes('@') || sender === '') return undefined
    const known = await tracked.findLogin(db, login.toLowerCase())
    if (!known?.tracking_enabled || known.organization_id !== organizationId) return undefined
    const name = domainOf(sender).toLowerCase()
    if (name === known.domain) return known
    const ofSender = await tracked.findDomain(db, organizationId, { name })
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

  return {
    name: 'tracking',
    async apply(message: Passing): Promise<Outcome> {
      if (message.direction === 'inbound') return passed(message)
      const origin = await untilTracked(() => originOf(message))
      const plan = planInjection(message.raw, origin ? wishes : NOTHING)
      if (!plan) return passed(message)
      const id = ulid(now().getTime())
      const stamped = () => passed({ ...message, raw: plan.write({ [STAMP]: id }) })
      if (!origin || !plan.isTrackable) return stamped()
      const { recipients, raw } = message
      if (recipients.length * raw.length > MAX_BYTES) {
        log.warn({ recipients: recipients.length, bytes: raw.length }, 'too large to be tracked')
        return stamped()
      }
      const emailId = plan.messageId || `${id}@${origin.domain}`
      const copies = recipients.map((recipient) => ({ id: urls.mint(), recipient }))
      const sent_at = now().toISOString()
      const isStored = await untilTracked(async () => {
        await tracked.insertTracked(db, {
          id,
          organization_id: message.organizationId,
          domain_id: origin.domain_id,
          domain: origin.domain,
          email_id: emailId.slice(0, MAX_EMAIL_ID),
          links: plan.links,
          copies: copies.map((copy) => ({ ...copy, recipient: copy.recipient.toLowerCase() })),
          sent_at,
          created_at: sent_at,
        })
        return true
      })
      if (!isStored) return stamped()
      const headers = { [STAMP]: id, 'Message-ID': `<${emailId}>` }
      return passed(
        ...copies.map((copy) => ({
          ...message,
          recipients: [copy.recipient],
          raw: plan.write(headers, urls.copyOf(copy.id)),
        })),
      )
    },
  }
}

const passed = (...messages: Passing[]): Outcome => ({ kind: 'pass', messages })
