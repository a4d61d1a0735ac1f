import { orderedFolders } from './folders.ts'
import { jmap, ownAccount, session } from './jmap.ts'
import { type Member, type Row, rowsOf } from './threads.ts'
import type { Account, Folder, Identity, Message, Summary, Thread } from './types.ts'

export const PER_PAGE = 25
const MAX_TEXT_BYTES = 512 * 1024

const SUMMARY = [
  ...['id', 'blobId', 'threadId', 'mailboxIds', 'keywords', 'from', 'to', 'cc', 'subject'],
  ...['receivedAt', 'hasAttachment', 'preview'],
]
const TEXT = [
  ...['bcc', 'replyTo', 'sentAt', 'messageId', 'inReplyTo', 'references'],
  ...['textBody', 'htmlBody', 'attachments', 'bodyValues'],
]

interface List<Item> {
  list: Item[]
}

export interface NamedAccount extends Account {
  id: string
}

/** The own account first, then shared mailboxes. */
export async function readAccounts(): Promise<NamedAccount[]> {
  const own = await ownAccount()
  const { accounts } = await session()
  return Object.entries(accounts)
    .map(([id, account]) => ({ id, ...account }))
    .sort((one, other) => Number(other.id === own) - Number(one.id === own))
}

export async function readFolders(accountId: string) {
  const answers = await jmap(['Mailbox/get', { accountId, ids: null }, 'm'])
  return orderedFolders(answers.get<List<Folder>>('m').list)
}

export interface Asked {
  /** undefined: every folder except those of `without`. */
  folder: string | undefined
  without: string[]
  text: string
  only: string
  page: number
}

const ONLY: Record<string, object> = {
  unread: { notKeyword: '$seen' },
  flagged: { hasKeyword: '$flagged' },
  attachments: { hasAttachment: true },
}

/** One page of threads. The second reading of the members is left out where there are too many. */
export async function readRows(
  accountId: string,
  { folder, without, text, only, page }: Asked,
): Promise<{ rows: Row[]; total: number }> {
  const place = folder ? { inMailbox: folder } : { inMailboxOtherThan: without }
  const answers = await jmap(
    [
      'Email/query',
      {
        accountId,
        filter: { ...place, ...(text && { text }), ...ONLY[only] },
        sort: [{ property: 'receivedAt', isAscending: false }],
        collapseThreads: true,
        position: (page - 1) * PER_PAGE,
        limit: PER_PAGE,
        calculateTotal: true,
      },
      'q',
    ],
    [
      'Email/get',
      { accountId, '#ids': result('q', 'Email/query', '/ids'), properties: SUMMARY },
      'e',
    ],
    ['Thread/get', { accountId, '#ids': result('e', 'Email/get', '/list/*/threadId') }, 't'],
    [
      'Email/get',
      {
        accountId,
        '#ids': result('t', 'Thread/get', '/list/*/emailIds'),
        properties: ['id', 'threadId', 'keywords', 'mailboxIds', 'from'],
      },
      'm',
    ],
  )
  const { ids, total } = answers.get<{ ids: string[]; total: number }>('q')
  const found = new Map(answers.get<List<Summary>>('e').list.map((email) => [email.id, email]))
  const rows = rowsOf(
    ids.flatMap((id) => found.get(id) ?? []),
    answers.get<List<Thread>>('t').list,
    answers.optional<List<Member>>('m')?.list,
    folder,
  )
  return { rows, total }
}

const result = (resultOf: string, name: string, path: string) => ({ resultOf, name, path })

/** The messages of a thread, oldest first; empty where it is gone. */
export async function readThread(accountId: string, threadId: string): Promise<Summary[]> {
  const answers = await jmap(
    ['Thread/get', { accountId, ids: [threadId] }, 't'],
    [
      'Email/get',
      {
        accountId,
        '#ids': result('t', 'Thread/get', '/list/*/emailIds'),
        properties: SUMMARY,
      },
      'e',
    ],
  )
  return answers
    .get<List<Summary>>('e')
    .list.sort((one, other) => one.receivedAt.localeCompare(other.receivedAt))
}

/** A message with its text; undefined where it is gone. */
export async function readMessage(accountId: string, id: string): Promise<Message | undefined> {
  const answers = await jmap([
    'Email/get',
    {
      accountId,
      ids: [id],
      properties: [...SUMMARY, ...TEXT],
      fetchTextBodyValues: true,
      maxBodyValueBytes: MAX_TEXT_BYTES,
    },
    'e',
  ])
  return answers.get<List<Message>>('e').list[0]
}

export async function readIdentities(): Promise<Identity[]> {
  const answers = await jmap(['Identity/get', { accountId: await ownAccount(), ids: null }, 'i'])
  return answers.get<List<Identity>>('i').list
}

/** The plain text of a message; undefined where it has HTML only. */
export function plainText({ textBody, bodyValues }: Message): string | undefined {
  if (textBody.some(({ type }) => type === 'text/html')) return undefined
  return textBody.map(({ partId }) => bodyValues[partId ?? '']?.value ?? '').join('\n')
}

export const hasHtml = ({ htmlBody }: Message): boolean =>
  htmlBody.some(({ type }) => type === 'text/html')

export const isCut = ({ bodyValues }: Message): boolean =>
  Object.values(bodyValues).some(({ isTruncated }) => isTruncated)
