import type { Core } from '../../../../core.ts'
import { withinTime } from '../../../../lib/kept-value.ts'
import { poster } from '../../../../outbound/post.ts'
import { VERSION } from '../../../../version.ts'
import { bodySignature } from '../../../webhooks/delivery/signature.ts'
import type { Notification } from './notification.ts'

const WEBHOOK_SECONDS = 10
/** Everything included; a mail server may be slow at each of many steps. */
export const ATTEMPT_MS = 30_000
const SHOWN_ERROR = 500

/** What a sealed signing secret is for; it opens for nothing else. */
export const CHANNEL_SECRET = 'signing secret of an alert channel'

export interface Channel {
  type: string
  target: string
  signing_secret: Buffer | null
}

export type ChannelSender = ReturnType<typeof channelSender>

/** Tells one channel; answers what went wrong, or null. Never throws. */
export function channelSender({
  mailer,
  outbound,
  vault,
}: Pick<Core, 'mailer' | 'outbound' | 'vault'>) {
  const http = poster({ timeoutSeconds: WEBHOOK_SECONDS, guard: outbound })

  async function mail(target: string, { title, text, fields, at }: Notification): Promise<null> {
    const lines = fields.map((field) => `${field.title}: ${field.value}`)
    await mailer.send({
      to: [target],
      subject: `[alert] ${title}`.replace(/\s+/g, ' '),
      text: [text, '', ...lines, `time: ${at.toISOString()}`, ''].join('\n'),
    })
    return null
  }

  async function post(channel: Channel, id: string, notification: Notification) {
    const { title, text, color, fields, at } = notification
    const body = JSON.stringify({
      text: `${title} - ${text}`,
      attachments: [{ color, title, text, fields, ts: Math.floor(at.getTime() / 1000) }],
    })
    const secret = channel.signing_secret && vault.open(CHANNEL_SECRET, channel.signing_secret)
    const { error } = await http.post(
      channel.target,
      {
        'content-type': 'application/json',
        'user-agent': `Mailplane/${VERSION}`,
        'x-webhook-source': 'mailplane-alerts',
        'x-webhook-id': id,
        ...(secret && { 'x-webhook-signature': bodySignature(secret, body) }),
      },
      body,
    )
    return error
  }

  return {
    /** The id is the same at every attempt, so that a receiver can tell a repetition. */
    async send(channel: Channel, id: string, notification: Notification): Promise<string | null> {
      try {
        const sending =
          channel.type === 'email'
            ? mail(channel.target, notification)
            : post(channel, id, notification)
        return (await withinTime(sending, ATTEMPT_MS))?.slice(0, SHOWN_ERROR) ?? null
      } catch (error) {
        return (error as Error).message.slice(0, SHOWN_ERROR)
      }
    },
    close: () => http.close(),
  }
}
