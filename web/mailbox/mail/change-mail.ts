import { forget } from '../../lib/query.ts'
import { jmap } from './jmap.ts'

/** Changes messages, then everything of mail that is shown is read again. */
async function change(accountId: string, args: Record<string, unknown>): Promise<void> {
  try {
    const answers = await jmap(['Email/set', { accountId, ...args }, 's'])
    answers.set('s')
  } finally {
    forget('mail-')
  }
}

const updates = (ids: readonly string[], patch: object) => ({
  update: Object.fromEntries(ids.map((id) => [id, patch])),
})

export const setKeyword = (
  accountId: string,
  ids: readonly string[],
  keyword: '$seen' | '$flagged',
  on: boolean,
) => change(accountId, updates(ids, { [`keywords/${keyword}`]: on || null }))

/** A message is then in this folder only. */
export const moveTo = (accountId: string, ids: readonly string[], folderId: string) =>
  change(accountId, updates(ids, { mailboxIds: { [folderId]: true } }))

/** There is no way back. */
export const destroy = (accountId: string, ids: readonly string[]) =>
  change(accountId, { destroy: ids })

async function changeFolder(accountId: string, args: Record<string, unknown>): Promise<void> {
  const answers = await jmap(['Mailbox/set', { accountId, ...args }, 's'])
  answers.set('s')
  forget('mail-')
}

export const addFolder = (accountId: string, name: string) =>
  changeFolder(accountId, { create: { f: { name, parentId: null, isSubscribed: true } } })

export const renameFolder = (accountId: string, id: string, name: string) =>
  changeFolder(accountId, { update: { [id]: { name } } })

/** The server refuses while messages are in it. */
export const removeFolder = (accountId: string, id: string) =>
  changeFolder(accountId, { destroy: [id] })
