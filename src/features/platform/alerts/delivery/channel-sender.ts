import type { Core } from '../../../../core.ts'
import { within } from '../../../../lib/timeout.ts'
import { poster } from '../../../../outbound/post.ts'
import { VERSION } from '../../../../version.ts'
import { bodySignature } from '../../../webhooks/delivery/signature.ts'
import type { Notification } from './notification.ts'

const WEBHOOK_SECONDS = 10
/** Limit of a whole attempt: an SMTP session can be slow at each of many steps. */
export const ATTEMPT_MS = 30_000
const MAX_ERROR_LENGTH = 500

/** Purpose of the sealed signing secret; the vault opens it for no other purpose. */
export const CHANNEL_SECRET = 'signing secret of an alert channel'

export interface Channel {
  type: string
  target: string
  signing_secret: Buffer | null
}

export type ChannelSender = ReturnType<typeof channelSender>

/** Sends notifications to channels. */
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
    /**
     * Returns an error message, or null on success. Never throws. Every attempt has the same id, so that a
     * receiver can detect duplicates.
     */
    async send(channel: Channel, id: string, notification: Notification): Promise<string | null> {
      try {
        const sending =
          channel.type === 'email'
            ? mail(channel.target, notification)
            : post(channel, id, notification)
        return (await within(ATTEMPT_MS, sending))?.slice(0, MAX_ERROR_LENGTH) ?? null
      } catch (error) {
        return (error as Error).message.slice(0, MAX_ERROR_LENGTH)
      }
    },
    close: () => http.close(),
  }
}
