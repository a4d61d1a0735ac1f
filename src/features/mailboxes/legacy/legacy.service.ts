import { type Caller, partOf } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { ApiError, refuseNotWritable } from '../../../errors.ts'
import { isObject } from '../../../lib/is-object.ts'
import { itemText } from '../../../lib/item-text.ts'
import { isLocalPart, toMailAddress } from '../../../lib/mail-address.ts'
import { percent } from '../../../lib/percent.ts'
import { trimSpaces } from '../../../lib/spaces.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { MailboxExists } from '../mailboxes.errors.ts'
import type { AccountFields } from '../mailboxes.repository.ts'
import { accountProblems, newPasswordProblem, type Sent } from '../mailboxes.rules.ts'
import { type MailboxService, withLocalPart } from '../mailboxes.service.ts'
import { InvalidMailbox, MailboxNotFound } from './legacy.errors.ts'
import * as legacy from './legacy.repository.ts'

const DEFAULT_QUOTA = 5 * 1024 ** 3
const STATS_MS = 30 * DAY_MS

interface Needs extends Pick<Core, 'db' | 'now'> {
  mailboxes: Pick<MailboxService, 'add' | 'edit' | 'remove'>
}

interface Removed {
  aliases_deleted: number
  messages_deleted: number
}

interface Outcome {
  mailbox: string
  status: string
  msg: string
}

export type LegacyMailboxService = ReturnType<typeof legacyMailboxService>

/** The older routes name mailboxes by address; the rules are those of the mailbox service. */
export function legacyMailboxService({ db, mailboxes, now }: Needs) {
  const find = async ({ scope }: Caller, addressOrId: string) => {
    if (!addressOrId.includes('@')) return legacy.find(db, scope, addressOrId)
    // Bootstrap accepts addresses that toMailAddress rejects.
    const email = toMailAddress(addressOrId)?.address ?? addressOrId.trim().toLowerCase()
    return legacy.findByEmail(db, scope, email)
  }

  async function existing(caller: Caller, addressOrId: string) {
    const row = await find(caller, addressOrId)
    if (!row) throw new MailboxNotFound()
    return row
  }

  /** For an item of a list: the error names the item and does not stop the others. */
  async function named(caller: Caller, item: string) {
    const row = await find(caller, item)
    if (!row) throw new InvalidMailbox(`Mailbox ${item} not found`)
    return row
  }

  async function editOne(caller: Caller, item: string, attr: Sent): Promise<void> {
    const row = await named(caller, item)
    const fields = fieldsOf(attr)
    const { password } = attr
    refuseFirst([
      ...accountProblems(fields as Sent),
      password === undefined ? undefined : newPasswordProblem(password),
    ])
    const isEmpty = Object.keys(fields).length === 0 && password === undefined
    refuseNotWritable(attr, withLocalPart(row), isEmpty)
    if (isEmpty) return
    await mailboxes.edit(caller, row.id, {
      fields,
      ...(password !== undefined && { password: { new: password as string } }),
    })
  }

  return {
    async add(caller: Caller, sent: Sent) {
      const address = readAddress(sent)
      refuseFirst([newPasswordProblem(sent.password)])
      const fields: AccountFields = {
        ...(sent.name != null && { name: sent.name as string }),
        ...(sent.quota !== undefined && { storage_quota: readQuota(sent.quota) }),
        status: isOn(sent.active ?? 1) ? 'active' : 'inactive',
      }
      refuseFirst(accountProblems(fields as Sent))
      const password = sent.password as string
      const { id, email } = await mailboxes.add(
        caller,
        { address, password, fields, defaultQuota: DEFAULT_QUOTA },
        MailboxExists,
      )
      return { user_id: id, email }
    },

    /** Another organization's mailbox is not found, like an unknown one. */
    async get(caller: Caller, mailboxId: string, organizationId: string | undefined) {
      const rows =
        mailboxId === 'all'
          ? await legacy.listActive(db, narrowed(caller.scope, organizationId))
          : [await existing(caller, mailboxId)]
      return rows.map((row) => ({
        ...withLocalPart(row),
        stats: { message_count: row.total_emails, total_size: row.storage_used },
        quota_usage_percent: percent(row.storage_used, row.storage_quota),
      }))
    },

    async edit(caller: Caller, { items, attr }: Sent) {
      if (!Array.isArray(items) || !isObject(attr))
        throw new InvalidMailbox('Invalid request format')
      const results: Outcome[] = []
      for (const [index, item] of items.map(itemText).entries()) {
        const part = partOf(caller, index === items.length - 1)
        results.push(
          await outcome(item, async () => {
            await editOne(part, item, attr)
            return `Mailbox ${item} updated successfully`
          }),
        )
      }
      return results
    },

    /** Also removes the address from the aliases of its organization. */
    async remove(caller: Caller, sent: unknown) {
      if (!Array.isArray(sent)) {
        throw new InvalidMailbox('Invalid request format - array of mailboxes expected')
      }
      const results: (Outcome & { stats?: Removed })[] = []
      for (const [index, item] of sent.map(itemText).entries()) {
        const part = partOf(caller, index === sent.length - 1)
        let stats: Removed | undefined
        const result = await outcome(item, async () => {
          const row = await named(caller, item)
          const removed = await mailboxes.remove(part, row.id, { fromAliases: true })
          if (!removed) throw new InvalidMailbox(`Mailbox ${item} not found`)
          stats = { aliases_deleted: removed.aliasesDeleted, messages_deleted: 0 }
          return `Mailbox ${item} deleted successfully`
        })
        results.push({ ...result, ...(stats && { stats }) })
      }
      return results
    },

    async quota(caller: Caller, mailbox: string) {
      return quotaOf(await existing(caller, mailbox))
    },

    async setQuota(caller: Caller, sent: Sent): Promise<string> {
      if (typeof sent.mailbox !== 'string' || sent.mailbox === '' || sent.quota == null) {
        throw new InvalidMailbox('Missing required fields: mailbox, quota')
      }
      const storage_quota = readQuota(sent.quota)
      const row = await existing(caller, sent.mailbox)
      await mailboxes.edit(caller, row.id, { fields: { storage_quota } })
      return row.email
    },

    async stats(caller: Caller, mailbox: string) {
      const row = await existing(caller, mailbox)
      const login_stats = await legacy.logins(db, row.id, new Date(now().getTime() - STATS_MS))
      return statsOf(row, login_stats)
    },
  }
}

/** Without a quota of its own, a mailbox may use what is left of its domain. */
function quotaOf(row: legacy.LegacyRow) {
  const { email, storage_quota, storage_used } = row
  const [limit, used] =
    storage_quota > 0 ? [storage_quota, storage_used] : [row.domain_quota, row.domain_storage_used]
  return {
    email,
    storage_quota,
    storage_used,
    usage_percent: percent(storage_used, storage_quota),
    available: limit === 0 ? null : Math.max(0, limit - used),
    folder_breakdown: [],
  }
}

function statsOf<Logins>(row: legacy.LegacyRow, login_stats: Logins) {
  const { email, last_login, storage_quota, storage_used, total_emails } = row
  return {
    mailbox_info: { email, created: row.created_at, last_login, storage_quota, storage_used },
    message_stats: {
      total_messages: total_emails,
      unread_messages: null,
      avg_message_size: total_emails === 0 ? 0 : Math.round(row.email_storage_used / total_emails),
      largest_message_size: null,
      oldest_message: null,
      newest_message: null,
    },
    login_stats,
  }
}

function readAddress(sent: Sent) {
  for (const name of ['local_part', 'domain', 'password']) {
    if (typeof sent[name] !== 'string' || sent[name] === '')
      throw new InvalidMailbox(`Missing required field: ${name}`)
  }
  const local = trimSpaces(sent.local_part as string)
  if (local === undefined || !isLocalPart(local)) {
    throw new InvalidMailbox(
      'Invalid local_part: at most 64 letters, digits and . _ % + -, with no dot at an end or doubled',
    )
  }
  const address = toMailAddress(`${local}@${trimSpaces(sent.domain as string)}`)
  if (!address) throw new InvalidMailbox('Invalid email format')
  const { email } = sent
  if (email != null && email !== '') {
    const named = typeof email === 'string' ? toMailAddress(email) : undefined
    if (named?.address !== address.address)
      throw new InvalidMailbox('email must be the same as local_part@domain')
  }
  return address
}

/** Maps the older attribute names; unknown ones are ignored. */
const fieldsOf = ({ name, quota, active }: Sent): AccountFields => ({
  ...(name !== undefined && { name: name as string }),
  ...(quota !== undefined && { storage_quota: readQuota(quota) }),
  ...(active !== undefined && { status: isOn(active) ? 'active' : 'inactive' }),
})

const isOn = (value: unknown): boolean => value === 1 || value === true || value === '1'

/** Bytes. Older forms send them as digits in a string. */
function readQuota(value: unknown): number {
  const bytes = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes)) {
    throw new InvalidMailbox('quota must be an integer number of bytes')
  }
  if (bytes < 0) throw new InvalidMailbox('quota must be non-negative')
  return bytes
}

function refuseFirst(problems: (string | undefined)[]): void {
  const first = problems.find((problem) => problem !== undefined)
  if (first !== undefined) throw new InvalidMailbox(first)
}

async function outcome(mailbox: string, work: () => Promise<string>): Promise<Outcome> {
  try {
    return { mailbox, status: 'success', msg: await work() }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { mailbox, status: 'error', msg: error.message }
  }
}
