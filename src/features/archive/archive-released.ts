import type { Core } from '../../core.ts'
import { ServiceUnavailable } from '../../errors.ts'
import type { MimeMessage } from '../../mime/message.ts'
import { keepMail } from './store/keep-mail.ts'

interface Released {
  organization_id: string | null
  sender: string
  recipient: string
  /** Of outgoing mail. */
  login: string | null
  message: MimeMessage
}

/** Archives a message that an operator releases from quarantine, before it is delivered. */
export async function archiveReleased(
  core: Pick<Core, 'config' | 'db' | 'log' | 'now' | 'vault'>,
  { organization_id: organizationId, sender, recipient, login, message }: Released,
): Promise<void> {
  if (organizationId === null) return
  const archive = keepMail(core)
  const direction = login === null ? 'inbound' : 'outbound'
  try {
    await archive.keep({
      organizationId,
      direction,
      sender,
      recipients: [recipient],
      login,
      message,
    })
  } catch (error) {
    await archive.countFailure()
    core.log.error({ err: error, alert: true }, 'the archive failed, a release is affected')
    if (core.config.ARCHIVE_REQUIRED) throw new ServiceUnavailable('Archive unavailable')
  }
}
