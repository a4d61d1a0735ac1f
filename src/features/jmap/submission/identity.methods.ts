import { sql } from 'kysely'
import { sendableAddresses } from '../../../hosting/sendable-addresses.repository.ts'
import { isObject } from '../../../lib/is-object.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { Arguments } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import { SUBMISSION } from '../core/limits.ts'
import type { Call, Method } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { changesOf, getObjects } from '../core/standard-methods.ts'
import { changeAccount, stateOf } from '../index/change-log.ts'
import {
  alignIdentities,
  deleteIdentity,
  type IdentityRow,
  identityRows,
} from './identities.repository.ts'

const PROPERTIES = [
  ...['id', 'name', 'email', 'replyTo', 'bcc', 'textSignature', 'htmlSignature', 'mayDelete'],
]
const MAX_TEXT = 64 * 1024

const shownIdentity = (row: IdentityRow) => ({
  id: row.id,
  name: row.name,
  email: row.email,
  replyTo: row.reply_to,
  bcc: row.bcc,
  textSignature: row.text_signature,
  htmlSignature: row.html_signature,
  mayDelete: row.may_delete,
})

/** The identities of the account, in line with the addresses that it may send as now. */
export async function currentIdentities({ core, login, mail }: Call): Promise<IdentityRow[]> {
  const addresses = await sendableAddresses(core.db, login.holder)
  await alignIdentities(core.db, mail.account.id, login.holder, addresses)
  return identityRows(core.db, mail.account.id)
}

const get: Method = {
  capability: SUBMISSION,
  async run(call, args) {
    const rows = await currentIdentities(call)
    return getObjects(args, {
      db: call.core.db,
      accountId: call.mail.account.id,
      properties: PROPERTIES,
      read: async (ids) => rows.filter(({ id }) => !ids || ids.includes(id)).map(shownIdentity),
    })
  },
}

const changes: Method = {
  capability: SUBMISSION,
  async run(call, args) {
    await currentIdentities(call)
    return (await changesOf(call.core.db, call.mail.account.id, 'Identity', args)).result
  },
}

const set: Method = {
  capability: SUBMISSION,
  isWriting: true,
  async run(call, args: Arguments) {
    const { core, mail, createdIds } = call
    await currentIdentities(call)
    const result = await setObjects(args, createdIds, {
      state: async () => String(await stateOf(core.db, mail.account.id)),
      create: (object) => create(call, object),
      update: (id, patch) => update(call, id, patch),
      destroy: (id) => destroy(call, id),
    })
    return { accountId: mail.account.id, ...result }
  },
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0')

const isAddresses = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) &&
    value.length <= 100 &&
    value.every((one) => isObject(one) && isText(one.email) && isText(one.name ?? '')))

/** The columns for the properties that a client may set. */
function columnsOf(object: Patch) {
  const wrong = Object.entries(object).filter(([property, value]) => {
    if (property === 'replyTo' || property === 'bcc') return !isAddresses(value)
    return !(['name', 'textSignature', 'htmlSignature'].includes(property) && isText(value))
  })
  if (wrong.length > 0) throw invalidProperties(wrong.map(([property]) => property))
  // A list would be sent as an array of PostgreSQL.
  const json = (value: unknown) =>
    value === null ? null : sql<object>`${JSON.stringify(value)}::text::jsonb`
  const { name, replyTo, bcc, textSignature, htmlSignature } = object as Record<string, string>
  return {
    ...(name !== undefined && { name }),
    ...(replyTo !== undefined && { reply_to: json(replyTo) }),
    ...(bcc !== undefined && { bcc: json(bcc) }),
    ...(textSignature !== undefined && { text_signature: textSignature }),
    ...(htmlSignature !== undefined && { html_signature: htmlSignature }),
  }
}

async function create({ core, login, mail }: Call, object: Patch) {
  const { email, ...rest } = object
  if (typeof email !== 'string') throw invalidProperties(['email'])
  const columns = columnsOf(rest)
  const address = email.toLowerCase()
  const allowed = await sendableAddresses(core.db, login.holder)
  if (!allowed.includes(address)) throw new JmapError('forbiddenFrom')
  const row = await changeAccount(core.db, mail.account.id, async (tx, record) => {
    const made = await tx
      .insertInto('jmap_identities')
      .values({
        id: `I${ulid()}`,
        account_id: mail.account.id,
        email: address,
        may_delete: true,
        ...columns,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    record({ kind: 'Identity', id: made.id, action: 'created' })
    return made
  })
  const set = Object.entries(shownIdentity(row)).filter(
    ([name]) => name === 'id' || !(name in object),
  )
  return Object.fromEntries(set) as { id: string }
}

async function update({ core, mail }: Call, id: string, patch: Patch): Promise<null> {
  const rows = await identityRows(core.db, mail.account.id)
  if (!rows.some((row) => row.id === id)) throw new JmapError('notFound')
  const columns = columnsOf(patch)
  if (Object.keys(columns).length === 0) return null
  await changeAccount(core.db, mail.account.id, async (tx, record) => {
    await tx
      .updateTable('jmap_identities')
      .set(columns)
      .where('account_id', '=', mail.account.id)
      .where('id', '=', id)
      .execute()
    record({ kind: 'Identity', id, action: 'updated' })
  })
  return null
}

async function destroy({ core, mail }: Call, id: string): Promise<void> {
  const row = (await identityRows(core.db, mail.account.id)).find((one) => one.id === id)
  if (!row) throw new JmapError('notFound')
  if (!row.may_delete) throw new JmapError('forbidden')
  await changeAccount(core.db, mail.account.id, async (tx, record) => {
    if (await deleteIdentity(tx, mail.account.id, id)) {
      record({ kind: 'Identity', id, action: 'destroyed' })
    }
  })
}

export const identityMethods: Record<string, Method> = {
  'Identity/get': get,
  'Identity/changes': changes,
  'Identity/set': set,
}
