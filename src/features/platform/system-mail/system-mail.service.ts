import type { Core } from '../../../core.ts'
import { invalidField } from '../../../errors.ts'
import { isEmailAddress } from '../../../lib/email.ts'
import { type Mailer, MailNotSent } from '../../../mail/mailer.ts'

export type SystemMailService = ReturnType<typeof systemMailService>

export const systemMailService = ({ mailer }: Pick<Core, 'mailer'>) => ({
  server: () => mailer.server(),

  async test(to: string) {
    if (!isEmailAddress(to)) throw invalidField('to', 'Must be one e-mail address')
    return sendTestMail(mailer, to)
  },
})

/** Sends a mail the way that invitations, resets, alerts and notices go. */
export async function sendTestMail(mailer: Mailer, to: string) {
  const result = { to, ...mailer.server() }
  try {
    const message_id = await mailer.send({
      to: [to],
      subject: 'Test of system mail',
      text: 'An operator of this mail host has sent this mail to test how system mail is delivered.\n',
    })
    return { ...result, sent: true, message_id, error: null }
  } catch (error) {
    if (!(error instanceof MailNotSent)) throw error
    return { ...result, sent: false, message_id: null, error: error.message }
  }
}
