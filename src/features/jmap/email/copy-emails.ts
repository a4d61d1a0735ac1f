import { type Arguments, flagArgument, objectArgument, optionalString } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import type { Call } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { stateOf } from '../index/change-log.ts'
import type { OpenMail } from '../index/open-mail.ts'
import { findEmail } from './emails.repository.ts'
import { setEmails } from './set-emails.ts'
import { readKeywords, readMailboxes, readReceivedAt, storeEmail } from './store-email.ts'

/** RFC 8621 section 4.7: copies messages from another account. */
export async function copyEmails(call: Call, args: Arguments) {
  const { core, mail, createdIds, source } = call
  if (!source) throw new JmapError('fromAccountNotFound')
  const destroys = flagArgument(args, 'onSuccessDestroyOriginal')
  const expected = optionalString(args, 'ifFromInState')
  const fromState = String(await stateOf(core.db, source.account.id))
  if (expected !== undefined && expected !== fromState) throw new JmapError('stateMismatch')
  const copied: string[] = []
  const { oldState, newState, created, notCreated } = await setObjects(
    { create: objectArgument(args, 'create'), ifInState: args.ifInState },
    createdIds,
    {
      state: async () => String(await stateOf(core.db, mail.account.id)),
      async create(object) {
        const made = await copyEmail(call, source, object)
        copied.push(String(object.id))
        return made
      },
      update: async () => null,
      destroy: async () => {},
    },
  )
  if (destroys && copied.length > 0) await destroyOriginals(call, source, copied, args)
  const accounts = { fromAccountId: source.account.id, accountId: mail.account.id }
  return { ...accounts, oldState, newState, created, notCreated }
}

async function copyEmail(call: Call, source: OpenMail, object: Patch) {
  const { id, mailboxIds, keywords, receivedAt, ...unknown } = object
  const names = Object.keys(unknown)
  if (names.length > 0) throw invalidProperties(names)
  const row =
    typeof id === 'string' ? await findEmail(call.core.db, source.account.id, id) : undefined
  const raw = row && (await call.blobs.readEmail(source, row.id))
  if (!row || !raw) throw new JmapError('notFound')
  return storeEmail(call, raw, {
    mailboxes: await readMailboxes(call, mailboxIds),
    keywords: keywords === undefined ? row.keywords : readKeywords(keywords),
    receivedAt: readReceivedAt(receivedAt ?? row.received_at, call.core.now()),
  })
}

async function destroyOriginals(call: Call, source: OpenMail, ids: string[], args: Arguments) {
  if (source.account.isReadOnly) throw new JmapError('accountReadOnly')
  const destroyIfInState = optionalString(args, 'destroyFromIfInState')
  const answer = await setEmails(
    { ...call, mail: source, source: undefined },
    { destroy: ids, ifInState: destroyIfInState },
  )
  call.also('Email/set', answer as unknown as Arguments)
}
