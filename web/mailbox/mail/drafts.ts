import { ApiError } from '../../api/client.ts'
import { forget } from '../../lib/query.ts'
import { type Attached, attachedOf, type Draft, emailOf } from './draft-email.ts'
import { folderOf } from './folders.ts'
import { jmap } from './jmap.ts'
import { readFolders } from './read-mail.ts'
import type { Message } from './types.ts'

export interface Stored {
  id: string
  /** The parts of the stored message: those of the one before are gone with it. */
  attachments: Attached[]
}

/** Stores the draft as a new message in the place of the one before. */
export async function storeDraft(
  accountId: string,
  draft: Draft,
  before: string | undefined,
): Promise<Stored> {
  const drafts = folderOf(await readFolders(accountId), 'drafts')
  if (!drafts) throw new ApiError({ status: 400, message: 'There is no folder for drafts' })
  const answers = await jmap([
    'Email/set',
    { accountId, create: { d: emailOf(draft, drafts.id) }, ...(before && { destroy: [before] }) },
    's',
  ])
  const id = answers.set('s').created?.d?.id ?? ''
  forget('mail-')
  if (draft.attachments.length === 0) return { id, attachments: [] }
  const stored = await jmap([
    'Email/get',
    { accountId, ids: [id], properties: ['attachments'] },
    'e',
  ])
  const [email] = stored.get<{ list: Pick<Message, 'attachments'>[] }>('e').list
  return { id, attachments: attachedOf(email?.attachments ?? []) }
}

/**
 * Sends a stored draft, which then is in the folder for sent mail. When the answer to an attempt was
 * lost, the draft tells whether it was sent: it is a draft no longer.
 */
export async function sendDraft(
  accountId: string,
  identityId: string,
  emailId: string,
  isRetry: boolean,
): Promise<void> {
  if (isRetry && (await isSent(accountId, emailId))) return
  const folders = await readFolders(accountId)
  const drafts = folderOf(folders, 'drafts')
  const sent = folderOf(folders, 'sent')
  const answers = await jmap([
    'EmailSubmission/set',
    {
      accountId,
      create: { s: { identityId, emailId } },
      onSuccessUpdateEmail: {
        '#s': {
          'keywords/$draft': null,
          ...(sent && { [`mailboxIds/${sent.id}`]: true }),
          ...(sent && drafts && { [`mailboxIds/${drafts.id}`]: null }),
        },
      },
    },
    's',
  ])
  answers.set('s')
  forget('mail-')
}

async function isSent(accountId: string, id: string): Promise<boolean> {
  const answers = await jmap(['Email/get', { accountId, ids: [id], properties: ['keywords'] }, 'e'])
  const [email] = answers.get<{ list: Pick<Message, 'keywords'>[] }>('e').list
  return email !== undefined && !email.keywords.$draft
}

/** Marks the message that was answered or forwarded; a failure here loses nothing. */
export async function markAnswered(
  accountId: string,
  id: string,
  kind: 'reply' | 'all' | 'forward',
): Promise<void> {
  const keyword = kind === 'forward' ? '$forwarded' : '$answered'
  await jmap(['Email/set', { accountId, update: { [id]: { [`keywords/${keyword}`]: true } } }, 's'])
  forget('mail-')
}

/** Attachments of a message in a shared mailbox, as blobs of the own account. */
export async function copiedBlobs(
  fromAccountId: string,
  accountId: string,
  attached: Attached[],
): Promise<Attached[]> {
  if (fromAccountId === accountId || attached.length === 0) return attached
  const blobIds = attached.map(({ blobId }) => blobId)
  const answers = await jmap(['Blob/copy', { fromAccountId, accountId, blobIds }, 'b'])
  const { copied } = answers.get<{ copied: Record<string, string> | null }>('b')
  return attached.flatMap((one) => {
    const blobId = copied?.[one.blobId]
    return blobId ? [{ ...one, blobId }] : []
  })
}
