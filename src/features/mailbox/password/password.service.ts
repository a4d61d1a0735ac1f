import type { Caller } from '../../../access/caller.ts'
import { loginDimensions } from '../../../access/throttle.ts'
import type { Core } from '../../../core.ts'
import { defineError, invalidField } from '../../../errors.ts'
import { passwordProblem } from '../../../lib/passwords.ts'
import type { MailboxService } from '../../mailboxes/mailboxes.service.ts'

// Not 401: the session itself is fine.
export const WrongPassword = defineError({ status: 400, message: 'Current password is incorrect' })

interface Needs extends Pick<Core, 'access' | 'imapLogin'> {
  mailboxes: Pick<MailboxService, 'edit'>
}

export type PasswordService = ReturnType<typeof passwordService>

export const passwordService = ({ access, imapLogin, mailboxes }: Needs) => ({
  /** Ends every other session, because the old password may have been stolen. */
  async change(caller: Caller, body: { current_password: string; new_password: string }) {
    const problem = passwordProblem(body.new_password)
    if (problem) throw invalidField('new_password', problem)
    const email = caller.email ?? ''
    const right = await access.throttle.attempt(
      'webmail',
      loginDimensions(caller.ip, email),
      async () => ((await imapLogin(email, body.current_password, caller.ip)) ? true : undefined),
    )
    if (!right) throw new WrongPassword()
    const { sessionsRevoked } = await mailboxes.edit(caller, caller.id, {
      password: { new: body.new_password, byHolder: true },
    })
    return { sessions_revoked: sessionsRevoked }
  },
})
