import type { Mail, Outcome, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import { aliasTargets } from '../../../hosting/alias-targets.repository.ts'
import { quotaConfiguration } from '../../../hosting/quota-configuration.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { count, type Limited, limitsOf } from './attachments.repository.ts'
import type { MailFile } from './files.ts'
import { attachmentProblem } from './limits.ts'

const TIME_LIMIT_MS = 10_000

const filesTask = taskIn<typeof import('./files.task.ts')>('features/storage/attachments/files')

/**
 * Enforces the attachment limits of storage quotas: of the sender for outgoing mail, of each recipient for
 * incoming mail, which is also counted.
 */
export function attachmentsStage({ config, db, workers }: Core): Stage {
  const filesIn = (mail: Mail): Promise<MailFile[]> | MailFile[] =>
    mayHaveFiles(mail)
      ? workers.run(
          filesTask,
          { raw: forThread(mail.message.raw) },
          { owner: mail.organizationId, timeLimitMs: TIME_LIMIT_MS },
        )
      : []

  function problemOf(limited: Limited, mail: Mail, files: readonly MailFile[], bytes: number) {
    const settings = [
      limited.storage_quotas ?? {},
      limited.domain_quotas,
      limited.organization_quotas,
    ]
    const quotas = quotaConfiguration({ settings, limits: [] }, config)
    const isFull =
      quotas.enforce_limits &&
      bytes > 0 &&
      mail.direction === 'inbound' &&
      limited.attachment_storage_used + bytes > quotas.attachment_storage_limit
    if (isFull) return 'the storage for attachments is full'
    return attachmentProblem(quotas, mail.message.raw.length, files)
  }

  return {
    name: 'attachments',
    async apply(mail: Mail): Promise<Outcome> {
      const files = await filesIn(mail)
      const attachments = files.filter((file) => file.isAttachment)
      const bytes = attachments.reduce((sum, file) => sum + file.bytes, 0)
      const addresses = await limitedAddresses(db, mail)
      const all = await limitsOf(db, mail.organizationId, addresses)
      for (const limited of all) {
        const problem = problemOf(limited, mail, files, bytes)
        if (problem === undefined) continue
        const whose = mail.direction === 'inbound' ? `${limited.email}: ` : ''
        return { kind: 'reject', text: `${whose}${problem}` }
      }
      const emails = all.filter((one) => one.is_mailbox).map(({ email }) => email)
      if (mail.direction === 'inbound' && files.length > 0 && emails.length > 0) {
        await count(db, emails, { files: files.length, attachments: attachments.length, bytes })
      }
      return { kind: 'pass', mails: [mail] }
    },
  }
}

/** The login or the sender of outgoing mail; the recipients of incoming mail, with their aliases. */
async function limitedAddresses(db: Core['db'], mail: Mail): Promise<string[]> {
  if (mail.direction === 'outbound') {
    return [mail.login?.includes('@') ? mail.login : mail.sender.toLowerCase()]
  }
  const recipients = mail.recipients.map((recipient) => recipient.toLowerCase())
  const targets = await aliasTargets(db, recipients)
  return [...new Set(recipients.flatMap((recipient) => targets.get(recipient) ?? [recipient]))]
}

/** Reads the header only: plain text without a name has no files. */
function mayHaveFiles({ message }: Mail): boolean {
  const type = message.field('content-type')?.toLowerCase() ?? 'text/plain'
  return (
    !type.startsWith('text/') ||
    type.includes('name') ||
    message.field('content-disposition') !== undefined
  )
}
