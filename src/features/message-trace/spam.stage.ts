import type { Config } from '../../config/index.ts'
import { type Mail, type Stage, TryLater } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { type IpRecorder, ipRecorder } from '../../hosting/ip-recorder.ts'
import { keepScore } from '../../hosting/mail-scores.repository.ts'
import { spamPoliciesOf } from '../../hosting/spam-policy.repository.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { type Rspamd, rspamd, type Verdict } from '../../mail/rspamd.ts'
import { withHeaders } from '../../mime/headers.ts'
import { MimeMessage } from '../../mime/message.ts'
import { type QuarantineService, quarantineService } from './quarantine.service.ts'
import { treatmentOf } from './spam-policy.ts'

interface Needs extends Pick<Core, 'db' | 'log' | 'now'> {
  config: Pick<Config, 'EDGE_ANTIVIRUS_FAIL_OPEN' | 'SPAM_QUARANTINE_SCORE'>
  rspamd: Rspamd
  quarantine: Pick<QuarantineService, 'holdMail'>
  /** Counts spam by client IP address. */
  clients: IpRecorder
}

/** The spam stage with the services of the running process. */
export const spamFilter = (core: Core): Stage =>
  spamStage({
    ...core,
    rspamd: rspamd(core.mailServers),
    quarantine: quarantineService(core),
    clients: ipRecorder(core),
  })

/** Headers that only Rspamd may set; those of the sender are removed. */
const VERDICT = /^x-(?:spam|spamd|rspamd)(?:-|$)/

/**
 * Asks Rspamd about inbound mail, with the policy of the recipients' domains. Quarantines a virus, rejects
 * what Rspamd or the policy rejects, quarantines a high score, and passes the rest on with the headers of
 * Rspamd.
 */
function spamStage({ clients, config, db, log, now, quarantine, rspamd }: Needs): Stage {
  const countSpam = ({ clientIp }: Mail) => {
    if (clientIp !== undefined) clients.mail(clientIp, { spam: 1 })
  }

  return {
    name: 'spam',
    async apply(mail) {
      if (mail.direction !== 'inbound') return { kind: 'pass', mails: [mail] }
      const { rejectsSpam, settings } = treatmentOf(await policiesFor(db, mail))
      const verdict = await rspamd({ ...mail, raw: mail.message.raw, settings })
      const isMarked = ['add header', 'rewrite subject'].includes(verdict.action)
      const hasVirus = verdict.virus !== undefined
      const isRefused = verdict.action === 'reject' || (rejectsSpam && isMarked)
      if (isRefused && !hasVirus) {
        countSpam(mail)
        return { kind: 'reject', text: verdict.text ?? 'the message looks like spam' }
      }
      if (verdict.action === 'soft reject') throw new TryLater(verdict.text ?? 'try again later')
      if (verdict.isUnscanned) {
        if (!config.EDGE_ANTIVIRUS_FAIL_OPEN) {
          throw new TryLater('the virus scanner does not respond, try again later')
        }
        log.warn({ organization: mail.organizationId }, 'mail passed without a virus scan')
      }
      const limit = config.SPAM_QUARANTINE_SCORE
      const isSpam = limit > 0 && verdict.score >= limit
      const { verifiedDomains } = verdict
      if (!hasVirus && !isSpam) {
        const { message, organizationId } = mail
        const { messageId } = message
        if (messageId !== null) {
          await keepScore(db, { messageId, organizationId, score: verdict.score }, now())
        }
        const passed = await withVerdict(mail, verdict, isMarked)
        return { kind: 'pass', mails: [{ ...passed, isSpam: isMarked, verifiedDomains }] }
      }
      countSpam(mail)
      // Without the mark: a released message belongs in the inbox, not in the junk folder.
      const held = { ...(await withVerdict(mail, verdict, false)), verifiedDomains }
      await db.transaction().execute((tx) =>
        quarantine.holdMail(tx, held, {
          reason: hasVirus ? 'virus' : 'spam',
          spam_score: verdict.score,
          virus_name: verdict.virus ?? null,
        }),
      )
      return { kind: 'held' }
    },
    stop: clients.stop,
  }
}

const policiesFor = (db: Core['db'], { organizationId, recipients }: Mail) =>
  spamPoliciesOf(db, organizationId, [...new Set(recipients.map(domainOf))])

/** Adds headers as Rspamd's milter does, with the `X-Spam` that mailbox filters look for. */
async function withVerdict(mail: Mail, verdict: Verdict, isMarked: boolean): Promise<Mail> {
  const added = [...verdict.headers, ...(isMarked ? [{ name: 'X-Spam', value: 'Yes' }] : [])]
  const headers = [
    ...added.map(({ name, value }) => ({
      name: name.toLowerCase(),
      line: `${name}: ${value.replace(/\r?\n(?![ \t])/g, ' ').replace(/\r?\n/g, '\r\n')}\r\n`,
    })),
    ...mail.message.headers.filter(({ name }) => !VERDICT.test(name)),
  ]
  return { ...mail, message: new MimeMessage(await withHeaders(mail.message.raw, headers)) }
}
