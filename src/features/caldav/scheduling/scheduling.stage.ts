import type { Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { applyMail } from './apply-mail.ts'
import { provenAuthor } from './proven-author.ts'

/** Applies invitations to the calendars of their recipients. The mail itself always passes. */
export const schedulingStage = (core: Core): Stage => ({
  name: 'calendars',
  async apply(mail) {
    const author = await provenAuthor(core.db, mail)
    if (author !== undefined) await applyMail(core, mail, author)
    return { kind: 'pass', mails: [mail] }
  },
})
