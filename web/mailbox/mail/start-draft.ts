import { dateTime } from '../../lib/format.ts'
import { nameOf, showAddresses } from './addresses.ts'
import { type Attached, attachedOf } from './draft-email.ts'
import { copiedBlobs } from './drafts.ts'
import { htmlText, ownAccount } from './jmap.ts'
import { plainText, readIdentities, readMessage } from './read-mail.ts'
import { answerTo, identityFor, quoted, type ReplyKind, withSignature } from './reply.ts'
import type { Address, Identity, Message } from './types.ts'
import { t } from './words.ts'

/** The initial values of the page for writing. */
export interface Start {
  accountId: string
  identities: Identity[]
  identity: Identity | undefined
  /** The stored draft that is continued. */
  draftId: string | undefined
  to: Address[]
  cc: Address[]
  bcc: Address[]
  subject: string
  text: string
  attachments: Attached[]
  inReplyTo: string[] | null
  references: string[] | null
  /** The message that this one answers. */
  original: { accountId: string; id: string; kind: ReplyKind } | undefined
}

export interface Wanted {
  draft: string
  reply: string
  all: string
  forward: string
  account: string
  to: string
}

const KINDS: readonly ReplyKind[] = ['reply', 'all', 'forward']

export async function startDraft(wanted: Wanted): Promise<Start> {
  const [accountId, identities] = await Promise.all([ownAccount(), readIdentities()])
  const empty: Start = {
    accountId,
    identities,
    identity: identities[0],
    draftId: undefined,
    to: wanted.to ? [{ email: wanted.to }] : [],
    cc: [],
    bcc: [],
    subject: '',
    text: withSignature('', identities[0]?.textSignature),
    attachments: [],
    inReplyTo: null,
    references: null,
    original: undefined,
  }
  if (wanted.draft) return continued(empty, wanted.draft)
  const kind = KINDS.find((one) => wanted[one])
  return kind ? answering(empty, wanted.account || accountId, wanted[kind], kind) : empty
}

/** A draft that is gone, perhaps because it was sent, is an empty page. */
async function continued(empty: Start, id: string): Promise<Start> {
  const draft = await readMessage(empty.accountId, id)
  if (!draft?.keywords.$draft) return empty
  const { to, cc, bcc, from, subject, inReplyTo, references } = draft
  return {
    ...empty,
    identity: identityFor({ from, to: null, cc: null }, empty.identities),
    draftId: id,
    to: to ?? [],
    cc: cc ?? [],
    bcc: bcc ?? [],
    subject: subject ?? '',
    text: await textOf(empty.accountId, draft),
    attachments: attachedOf(draft.attachments),
    inReplyTo,
    references,
  }
}

async function answering(
  empty: Start,
  fromAccount: string,
  id: string,
  kind: ReplyKind,
): Promise<Start> {
  const original = await readMessage(fromAccount, id)
  if (!original) return empty
  const { accountId, identities } = empty
  const identity = identityFor(original, identities)
  const text = await textOf(fromAccount, original)
  const files = kind === 'forward' ? attachedOf(original.attachments) : []
  const below = kind === 'forward' ? forwardedText(original, text) : quotedText(original, text)
  return {
    ...empty,
    ...answerTo(original, kind, identities),
    identity,
    text: `${withSignature('', identity?.textSignature)}\n\n${below}`,
    attachments: await copiedBlobs(fromAccount, accountId, files),
    original: { accountId: fromAccount, id, kind },
  }
}

/** The text of a message, also of one that has HTML only. */
const textOf = async (accountId: string, message: Message): Promise<string> =>
  plainText(message) ?? (await htmlText(accountId, message.blobId)).text

function quotedText({ from, sentAt, receivedAt }: Message, text: string): string {
  const sender = from?.[0] ? nameOf(from[0]) : t.noSender
  return `${t.wrote(dateTime(sentAt ?? receivedAt), sender)}\n${quoted(text)}\n`
}

function forwardedText(original: Message, text: string): string {
  const { from, to, cc, subject, sentAt, receivedAt } = original
  const lines = [
    [t.from, showAddresses(from)],
    [t.date, dateTime(sentAt ?? receivedAt)],
    [t.subject, subject ?? ''],
    [t.to, showAddresses(to)],
    [t.cc, showAddresses(cc)],
  ]
  const header = lines.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`)
  return [t.forwarded, ...header, '', text].join('\n')
}
