import { setOf } from '../../../mail/imap/messages.ts'
import { type Arguments, optionalStrings } from '../core/arguments.ts'
import { JmapError } from '../core/errors.ts'
import type { Call } from '../core/method.ts'
import { resolved } from '../core/set-objects.ts'
import { emailRows, type Place } from './emails.repository.ts'
import { refusals } from './store-email.ts'

/**
 * Destroys the messages of a call together: one command per mailbox and one comparison, not one for
 * each message. The first call of `destroy` does the work for all of them.
 */
export function destroyEmails(call: Call, args: Arguments) {
  const { core, mail } = call
  let done: Promise<Set<string>> | undefined

  async function destroyAll(): Promise<Set<string>> {
    const references = optionalStrings(args, 'destroy') ?? []
    const ids = references.map((reference) => resolved(reference, call.createdIds))
    const rows = await emailRows(core.db, mail.account.id, [...new Set(ids)])
    await refusals(() =>
      expunge(
        call,
        rows.flatMap(({ places }) => places),
      ),
    )
    await mail.sync()
    return new Set(rows.map(({ id }) => id))
  }

  return {
    async destroy(id: string): Promise<void> {
      done ??= destroyAll()
      if (!(await done).has(id)) throw new JmapError('notFound')
    },
  }
}

/** Removes messages from mailboxes, RFC 4315: only these, not others that are marked as deleted. */
export async function expunge({ mail }: Call, places: readonly Place[]): Promise<void> {
  const imap = await mail.imap()
  for (const [path, some] of grouped(places)) {
    const set = setOf(some.map(({ uid }) => uid))
    await imap.select(path)
    await imap.command(`UID STORE ${set} +FLAGS.SILENT (\\Deleted)`)
    await imap.command(`UID EXPUNGE ${set}`)
  }
}

function grouped(places: readonly Place[]): Map<string, Place[]> {
  const groups = new Map<string, Place[]>()
  for (const place of places) groups.set(place.path, [...(groups.get(place.path) ?? []), place])
  return groups
}
