import { sha256 } from '../../../lib/tokens.ts'
import { SORT_OPTIONS } from '../email/query-emails.ts'
import type { MailAccount } from '../index/accounts.repository.ts'
import {
  CORE,
  LIMITS,
  MAIL,
  MAX_MAILBOX_DEPTH,
  MAX_MAILBOX_NAME,
  SUBMISSION,
  VACATION,
} from './limits.ts'
import type { Login } from './method.ts'

/** RFC 8620 section 2: what a program needs to know before its first request. */
export function sessionOf({ accounts, holder }: Login, base: string) {
  const session = {
    capabilities: { [CORE]: LIMITS, [MAIL]: {}, [SUBMISSION]: {}, [VACATION]: {} },
    accounts: Object.fromEntries(accounts.map((account) => [account.id, shownAccount(account)])),
    primaryAccounts: Object.fromEntries(
      [MAIL, SUBMISSION, VACATION].map((capability) => [capability, holder.id]),
    ),
    username: holder.email,
    apiUrl: `${base}/jmap`,
    downloadUrl: `${base}/jmap/download/{accountId}/{blobId}/{name}?accept={type}`,
    uploadUrl: `${base}/jmap/upload/{accountId}/`,
    eventSourceUrl: `${base}/jmap/eventsource?types={types}&closeafter={closeafter}&ping={ping}`,
  }
  return { ...session, state: sha256(JSON.stringify(session)).slice(0, 16) }
}

const shownAccount = ({ name, isPersonal, isReadOnly }: MailAccount) => ({
  name,
  isPersonal,
  isReadOnly,
  accountCapabilities: {
    [MAIL]: {
      maxMailboxesPerEmail: null,
      maxMailboxDepth: MAX_MAILBOX_DEPTH,
      maxSizeMailboxName: MAX_MAILBOX_NAME,
      maxSizeAttachmentsPerEmail: LIMITS.maxSizeUpload,
      emailQuerySortOptions: SORT_OPTIONS,
      mayCreateTopLevelMailbox: !isReadOnly,
    },
    ...(isPersonal && {
      [SUBMISSION]: { maxDelayedSend: 0, submissionExtensions: {} },
      [VACATION]: {},
    }),
  },
})
