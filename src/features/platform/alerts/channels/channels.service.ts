import type { Caller } from '../../../../access/caller.ts'
import type { Core } from '../../../../core.ts'
import { Unprocessable } from '../../../../errors.ts'
import { isEmailAddress } from '../../../../lib/email.ts'
import { ulid } from '../../../../lib/ulid.ts'
import type { ChannelType } from '../alert-metrics.ts'
import { AlertChannelNotFound } from '../alerts.errors.ts'
import { CHANNEL_SECRET, type ChannelSender } from '../delivery/channel-sender.ts'
import { testNotification } from '../delivery/notification.ts'
import * as channels from './channels.repository.ts'

interface NewChannel {
  name: string
  type: ChannelType
  target: string
  enabled?: boolean
  signing_secret?: string | null
}

interface Needs extends Pick<Core, 'change' | 'db' | 'now' | 'outbound' | 'vault'> {
  sender: Pick<ChannelSender, 'send'>
}

export type ChannelService = ReturnType<typeof channelService>

export function channelService({ change, db, now, outbound, sender, vault }: Needs) {
  function validTarget({ type, target }: NewChannel): string {
    const trimmed = target.trim()
    if (type === 'email') {
      if (!isEmailAddress(trimmed)) throw new Unprocessable('target must be an email address')
      return trimmed
    }
    if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) {
      throw new Unprocessable('target must be an absolute http or https URL')
    }
    const problem = outbound.problemOf(trimmed)
    if (problem !== undefined) throw new Unprocessable(`target: ${problem}`)
    return trimmed
  }

  return {
    async list(filter: channels.ChannelFilter) {
      return { items: await channels.list(db, filter) }
    },

    async create(caller: Caller, sent: NewChannel) {
      const { signing_secret: secret } = sent
      if (sent.type === 'email' && secret) {
        throw new Unprocessable('signing_secret is only meaningful for type=webhook')
      }
      const target = validTarget(sent)
      return change(caller, (tx) =>
        channels.insert(tx, {
          id: ulid(),
          name: sent.name,
          type: sent.type,
          target,
          enabled: sent.enabled ?? true,
          signing_secret: secret ? vault.seal(CHANNEL_SECRET, secret) : null,
          created_at: now().toISOString(),
        }),
      )
    },

    /** Rules keep the id. Pending notifications of the channel are deleted with it. */
    async delete(caller: Caller, id: string) {
      return change(caller, async (tx) => {
        const referencing_rules = await channels.rulesWith(tx, id)
        if (!(await channels.remove(tx, id))) throw new AlertChannelNotFound()
        return { id, deleted: true as const, referencing_rules }
      })
    },

    async test(caller: Caller, id: string) {
      const channel = await channels.findForDelivery(db, id)
      if (!channel) throw new AlertChannelNotFound()
      const error = await sender.send(channel, ulid(), testNotification(channel.name, now()))
      await change(caller, (tx) => channels.recordDelivery(tx, id, error, now()))
      return { channel_id: id, delivered: error === null, error }
    },
  }
}
