import { quoted } from '../../../mail/imap/messages.ts'
import { type Arguments, flagArgument } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import { MAX_MAILBOX_DEPTH, MAX_MAILBOX_NAME } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { type Patch, resolved, setObjects } from '../core/set-objects.ts'
import { Refused } from '../imap/connection.ts'
import { encodeName } from '../imap/folder-names.ts'
import { changeAccount, stateOf } from '../index/change-log.ts'
import { type MailboxRow, mailboxRows } from '../index/mailboxes.repository.ts'
import { shownMailbox } from './mailbox.ts'

const SETTABLE = ['name', 'parentId', 'role', 'sortOrder', 'isSubscribed']

export async function setMailboxes(call: Call, args: Arguments) {
  const { core, mail, createdIds } = call
  const { account } = mail
  const removesEmails = flagArgument(args, 'onDestroyRemoveEmails')
  const result = await setObjects(args, createdIds, {
    state: async () => String(await stateOf(core.db, account.id)),
    create: (object) => create(call, object),
    update: (id, patch) => update(call, id, patch),
    destroy: (id) => destroy(call, id, removesEmails),
  })
  return { accountId: account.id, ...result }
}

interface Wanted {
  name?: string
  parentId?: string | null
  sortOrder?: number
  isSubscribed?: boolean
}

/** Checks the properties that a client sets; `self` is the mailbox that it changes. */
function read(call: Call, object: Patch, rows: readonly MailboxRow[], self?: MailboxRow): Wanted {
  const wanted = { ...object }
  if (typeof wanted.parentId === 'string') {
    wanted.parentId = resolved(wanted.parentId, call.createdIds)
  }
  const wrong = Object.entries(wanted)
    .filter(([property, value]) => !isValid(property, value, rows, self))
    .map(([property]) => property)
  if (wrong.length > 0) throw invalidProperties(wrong)
  return wanted
}

function isValid(
  property: string,
  value: unknown,
  rows: readonly MailboxRow[],
  self: MailboxRow | undefined,
): boolean {
  switch (property) {
    case 'name':
      return isName(value)
    case 'parentId':
      return value === null || isParent(value, rows, self)
    case 'role':
      // The mail server gives roles to its own folders only.
      return value === (self?.role ?? null)
    case 'sortOrder':
      return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
    case 'isSubscribed':
      return typeof value === 'boolean'
    default:
      return SETTABLE.includes(property)
  }
}

const isName = (value: unknown): boolean =>
  typeof value === 'string' &&
  value !== '' &&
  Buffer.byteLength(value) <= MAX_MAILBOX_NAME &&
  value.isWellFormed() &&
  !/[\x00-\x1f\x7f/]|^[.~]/.test(value)

/** A mailbox cannot be inside of itself. */
function isParent(value: unknown, rows: readonly MailboxRow[], self?: MailboxRow): boolean {
  let parent = rows.find(({ id }) => id === value)
  for (let depth = 1; parent; depth++) {
    if (parent.id === self?.id || depth >= MAX_MAILBOX_DEPTH) return false
    const { parent_id } = parent
    if (parent_id === null) return true
    parent = rows.find(({ id }) => id === parent_id)
  }
  return false
}

function pathOf(name: string, parentId: string | null, rows: readonly MailboxRow[]): string {
  const parent = rows.find(({ id }) => id === parentId)
  return parent ? `${parent.path}/${name}` : name
}

function refuseTaken(
  rows: readonly MailboxRow[],
  name: string,
  parentId: string | null,
  self?: MailboxRow,
): void {
  const other = rows.find(
    (row) => row.id !== self?.id && row.parent_id === parentId && row.name === name,
  )
  if (other) throw new JmapError('alreadyExists', { existingId: other.id })
  if (parentId === null && /^(inbox|shared)$/i.test(name)) throw invalidProperties(['name'])
}

async function create(call: Call, object: Patch) {
  const { core, mail } = call
  const rows = await mailboxRows(core.db, mail.account.id)
  const wanted = read(call, object, rows)
  if (wanted.name === undefined) throw invalidProperties(['name'])
  const parentId = wanted.parentId ?? null
  refuseTaken(rows, wanted.name, parentId)
  const path = pathOf(wanted.name, parentId, rows)
  await folderCommand(call, 'CREATE', path)
  if (wanted.isSubscribed) await folderCommand(call, 'SUBSCRIBE', path)
  await mail.sync()
  const made = (await mailboxRows(core.db, mail.account.id)).find((row) => row.path === path)
  if (!made) throw new JmapError('serverFail', { description: 'The mailbox was removed again' })
  if (wanted.sortOrder) await setSortOrder(call, made.id, wanted.sortOrder)
  const shown = shownMailbox({ ...made, sort_order: wanted.sortOrder ?? 0 }, mail.account)
  const set = Object.entries(shown).filter(([name]) => name === 'id' || !(name in object))
  return Object.fromEntries(set) as { id: string }
}

async function update(call: Call, id: string, patch: Patch): Promise<null> {
  const { core, mail } = call
  const rows = await mailboxRows(core.db, mail.account.id)
  const row = rows.find((one) => one.id === id)
  if (!row) throw new JmapError('notFound')
  const wanted = read(call, patch, rows, row)
  const name = wanted.name ?? row.name
  const parentId = wanted.parentId === undefined ? row.parent_id : wanted.parentId
  if (name !== row.name || parentId !== row.parent_id) {
    if (row.role === 'inbox') throw new JmapError('forbidden')
    refuseTaken(rows, name, parentId, row)
    await folderCommand(call, 'RENAME', row.path, pathOf(name, parentId, rows))
  }
  if (wanted.isSubscribed !== undefined && wanted.isSubscribed !== row.is_subscribed) {
    const path = pathOf(name, parentId, rows)
    await folderCommand(
      call,
      wanted.isSubscribed ? 'SUBSCRIBE' : 'UNSUBSCRIBE',
      row.role === 'inbox' ? row.path : path,
    )
  }
  if (wanted.sortOrder !== undefined) await setSortOrder(call, id, wanted.sortOrder)
  await mail.sync()
  return null
}

async function destroy(call: Call, id: string, removesEmails: boolean): Promise<void> {
  const { core, mail } = call
  const rows = await mailboxRows(core.db, mail.account.id)
  const row = rows.find((one) => one.id === id)
  if (!row) throw new JmapError('notFound')
  if (row.role !== null) throw new JmapError('forbidden')
  if (rows.some(({ parent_id }) => parent_id === id)) throw new JmapError('mailboxHasChild')
  if (row.total_emails > 0 && !removesEmails) throw new JmapError('mailboxHasEmail')
  await folderCommand(call, 'DELETE', row.path)
  await mail.sync()
}

/** Runs a command that names folders. A refusal is the answer for this object alone. */
async function folderCommand({ mail }: Call, command: string, ...paths: string[]): Promise<void> {
  const imap = await mail.imap()
  await imap.leave()
  const names = paths.map((path) => quoted(encodeName(path)))
  try {
    await imap.command(`${command} ${names.join(' ')}`)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const type = error.code === 'OVERQUOTA' ? 'overQuota' : 'forbidden'
    throw new JmapError(type, { description: error.message })
  }
}

const setSortOrder = ({ core, mail }: Call, id: string, sortOrder: number) =>
  changeAccount(core.db, mail.account.id, async (tx, record) => {
    const { numUpdatedRows } = await tx
      .updateTable('jmap_mailboxes')
      .set({ sort_order: sortOrder })
      .where('account_id', '=', mail.account.id)
      .where('id', '=', id)
      .where('sort_order', '!=', sortOrder)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) record({ kind: 'Mailbox', id, action: 'updated' })
  })
