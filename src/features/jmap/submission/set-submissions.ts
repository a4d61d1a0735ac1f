import { ulid } from '../../../lib/ulid.ts'
import { type Arguments, objectArgument, optionalIds, utcDate } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import type { Call } from '../core/method.ts'
import { type Patch, resolved, setObjects } from '../core/set-objects.ts'
import { findEmail } from '../email/emails.repository.ts'
import { setEmails } from '../email/set-emails.ts'
import { changeAccount, stateOf } from '../index/change-log.ts'
import type { Head } from '../mime/header-forms.ts'
import { allowedSender, envelopeOf } from './envelope.ts'
import { currentIdentities } from './identity.methods.ts'
import { deleteSubmission, insertSubmission, submissionRows } from './submissions.repository.ts'

const SETTABLE = ['identityId', 'emailId', 'envelope']

/** RFC 8621 section 7.5. */
export async function setSubmissions(call: Call, args: Arguments) {
  const { core, mail, createdIds } = call
  /** The messages of the submissions that succeeded, by id and by `#creation id`. */
  const emails = new Map<string, string>()
  const accountId = mail.account.id
  const result = await setObjects(args, createdIds, {
    state: async () => String(await stateOf(core.db, accountId)),
    async create(object, creationId) {
      const { emailId, ...made } = await submit(call, object)
      emails.set(`#${creationId}`, emailId).set(made.id, emailId)
      return made
    },
    async update(id) {
      const [row] = await submissionRows(core.db, accountId, [id])
      throw new JmapError(row ? 'cannotUnsend' : 'notFound')
    },
    async destroy(id) {
      const [row] = await submissionRows(core.db, accountId, [id])
      if (!row) throw new JmapError('notFound')
      await changeAccount(core.db, accountId, async (tx, record) => {
        await deleteSubmission(tx, accountId, id)
        record({ kind: 'EmailSubmission', id, action: 'destroyed' })
      })
      emails.set(id, row.email_id)
    },
  })
  await changeEmails(call, args, emails)
  return { accountId, ...result }
}

async function submit(call: Call, object: Patch) {
  const { core, login, mail } = call
  const unknown = Object.keys(object).filter((property) => !SETTABLE.includes(property))
  if (unknown.length > 0) throw invalidProperties(unknown)
  const identityId = resolved(String(object.identityId), call.createdIds)
  const identity = (await currentIdentities(call)).find(({ id }) => id === identityId)
  if (!identity) throw invalidProperties(['identityId'])
  const emailId = resolved(String(object.emailId), call.createdIds)
  const email = await findEmail(core.db, mail.account.id, emailId)
  const raw = email && (await call.blobs.readEmail(mail, emailId))
  if (!email || !raw) throw invalidProperties(['emailId'])
  const envelope = envelopeOf(object.envelope, identity.email, email.head as unknown as Head)
  const mailFrom = await allowedSender(core.db, login.holder.email, envelope.mailFrom.email)
  const recipients = envelope.rcptTo.map((one) => one.email)
  const reply = await call.sender.send({ mailFrom, rcptTo: recipients }, raw)
  const status = { smtpReply: reply.slice(0, 1000), delivered: 'queued', displayed: 'unknown' }
  const row = {
    id: `S${ulid()}`,
    account_id: mail.account.id,
    identity_id: identityId,
    email_id: emailId,
    thread_id: email.thread_id,
    envelope,
    send_at: core.now().toISOString(),
    delivery_status: Object.fromEntries(recipients.map((one) => [one, status])),
  }
  await changeAccount(core.db, mail.account.id, async (tx, record) => {
    await insertSubmission(tx, row)
    record({ kind: 'EmailSubmission', id: row.id, action: 'created' })
  })
  return {
    id: row.id,
    emailId,
    threadId: row.thread_id,
    sendAt: utcDate(row.send_at),
    undoStatus: 'final',
    ...(object.envelope == null && { envelope }),
    deliveryStatus: row.delivery_status,
    dsnBlobIds: [],
    mdnBlobIds: [],
  }
}

/** Changes the messages of successful submissions, for example from draft to sent. */
async function changeEmails(call: Call, args: Arguments, emails: ReadonlyMap<string, string>) {
  if (args.onSuccessUpdateEmail == null && args.onSuccessDestroyEmail == null) return
  const updates = Object.entries(objectArgument(args, 'onSuccessUpdateEmail'))
  const destroys = optionalIds(args, 'onSuccessDestroyEmail') ?? []
  const update = updates.flatMap(([reference, patch]) => {
    const emailId = emails.get(reference)
    return emailId === undefined ? [] : [[emailId, patch]]
  })
  const destroy = destroys.flatMap((reference) => emails.get(reference) ?? [])
  const answer = await setEmails(call, { update: Object.fromEntries(update), destroy })
  call.also('Email/set', answer as unknown as Arguments)
}
