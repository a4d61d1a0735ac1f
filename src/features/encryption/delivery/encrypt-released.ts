import { type Mail, TryLater } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { ServiceUnavailable } from '../../../errors.ts'
import { encryptDelivery } from './encrypt-delivery.ts'

/** Encrypts a message that an operator releases from quarantine: it does not pass the content filter. */
export async function encryptReleased(
  core: Pick<Core, 'db' | 'log' | 'now' | 'workers'>,
  released: Pick<Mail, 'sender' | 'message'> & {
    recipient: string
    organization_id: string | null
  },
): Promise<{ recipient: string; content: Buffer }[]> {
  const { sender, recipient, organization_id, message } = released
  try {
    const mails = await encryptDelivery(core)({
      direction: 'inbound',
      organizationId: organization_id ?? '',
      sender,
      recipients: [recipient],
      login: undefined,
      clientIp: undefined,
      message,
    })
    return mails.flatMap((mail) =>
      mail.recipients.map((one) => ({ recipient: one, content: mail.message.raw })),
    )
  } catch (error) {
    if (error instanceof TryLater) throw new ServiceUnavailable('Encryption unavailable')
    throw error
  }
}
