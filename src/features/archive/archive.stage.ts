import { type Stage, TryLater } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { keepMail } from './store/keep-mail.ts'

const DEFERRED = 'the message cannot be archived now, try again later'

/**
 * Archives every message that passed the stages before, in both directions and for each organization that
 * it reaches. A message that is accepted is archived, unless ARCHIVE_REQUIRED is false.
 */
export function archiveStage(core: Core): Stage {
  const { config, log } = core
  const archive = keepMail(core)
  return {
    name: 'archive',
    async apply(mail) {
      const passed = { kind: 'pass', mails: [mail] } as const
      if (!archive.isOn || mail.recipients.length === 0) return passed
      try {
        await archive.keep(mail)
      } catch (error) {
        await archive.countFailure()
        const lost = config.ARCHIVE_REQUIRED ? 'message deferred' : 'message passes without a copy'
        log.error({ err: error, alert: true }, `the archive failed, ${lost}`)
        if (config.ARCHIVE_REQUIRED) throw new TryLater(DEFERRED)
      }
      return passed
    },
  }
}
