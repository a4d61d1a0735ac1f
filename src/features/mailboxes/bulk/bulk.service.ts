import { type Caller, partOf } from '../../../access/caller.ts'
import { ApiError, Unprocessable } from '../../../errors.ts'
import { isObject } from '../../../lib/is-object.ts'
import type { Sent } from '../mailboxes.rules.ts'
import type { MailboxService } from '../mailboxes.service.ts'
import { MAX_ACCOUNTS } from './bulk.schemas.ts'

export type BulkMailboxService = ReturnType<typeof bulkMailboxService>

export const bulkMailboxService = ({
  mailboxes,
}: {
  mailboxes: Pick<MailboxService, 'create'>
}) => ({
  /**
   * One mailbox after the other, each in its own transaction: a failed one does not stop the others.
   * Only one password is hashed at a time, so that sign-ins do not wait for the whole list.
   */
  async create(caller: Caller, sent: Sent) {
    const { accounts } = sent
    if (!Array.isArray(accounts)) throw new Unprocessable('accounts must be an array')
    if (accounts.length > MAX_ACCOUNTS) {
      throw new Unprocessable(`At most ${MAX_ACCOUNTS} email accounts can be sent at once`)
    }
    const results = []
    for (const [index, item] of accounts.entries()) {
      const part = partOf(caller, index === accounts.length - 1)
      results.push(await resultOf(item, (fields) => mailboxes.create(part, fields)))
    }
    const success = results.filter(({ status }) => status === 'success').length
    const total = results.length
    return { summary: { total, success, errors: total - success }, results }
  },
})

/** The result of a row; an expected error belongs to its row only. */
async function resultOf(
  item: unknown,
  create: (fields: Sent) => Promise<{ id: string; email: string }>,
) {
  const fields: Sent = isObject(item) ? item : {}
  try {
    const { id, email } = await create(fields)
    return { email, status: 'success', msg: 'Email account created successfully', account_id: id }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const email = typeof fields.email === 'string' ? fields.email.trim() : ''
    return {
      email,
      status: 'error',
      msg: messageOf(error),
      ...(error.code !== undefined && { error_code: error.code }),
    }
  }
}

/** Validation names several problems in `data.errors`; a row has one message. */
function messageOf({ message, data }: ApiError): string {
  const { errors } = (data ?? {}) as { errors?: string[] }
  return errors ? errors.join('; ') : message
}
