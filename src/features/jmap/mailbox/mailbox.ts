import type { MailAccount } from '../index/accounts.repository.ts'
import type { MailboxRow } from '../index/mailboxes.repository.ts'

export const MAILBOX_PROPERTIES = [
  'id',
  'name',
  'parentId',
  'role',
  'sortOrder',
  'totalEmails',
  'unreadEmails',
  'totalThreads',
  'unreadThreads',
  'myRights',
  'isSubscribed',
] as const

export const COUNTS = ['totalEmails', 'unreadEmails', 'totalThreads', 'unreadThreads'] as const

/** A mailbox as RFC 8621 section 2 shows it. */
export const shownMailbox = (row: MailboxRow, { isReadOnly, isPersonal }: MailAccount) => ({
  id: row.id,
  name: row.name,
  parentId: row.parent_id,
  role: row.role,
  sortOrder: row.sort_order,
  totalEmails: row.total_emails,
  unreadEmails: row.unread_emails,
  totalThreads: row.total_threads,
  unreadThreads: row.unread_threads,
  myRights: {
    mayReadItems: true,
    mayAddItems: !isReadOnly,
    mayRemoveItems: !isReadOnly,
    maySetSeen: !isReadOnly,
    maySetKeywords: !isReadOnly,
    mayCreateChild: !isReadOnly,
    mayRename: !isReadOnly && row.role !== 'inbox',
    mayDelete: !isReadOnly && row.role === null,
    maySubmit: isPersonal,
  },
  isSubscribed: row.is_subscribed,
})
