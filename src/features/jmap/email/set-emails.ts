import { domainOf } from '../../../lib/mail-address.ts'
import { bufferOf, forThread } from '../../../lib/shared-bytes.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { blobNotFound } from '../blobs/blobs.service.ts'
import { type Arguments, utcDate } from '../core/arguments.ts'
import { JmapError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { Call } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { stateOf } from '../index/change-log.ts'
import { checkEmail } from './check-email.ts'
import { destroyEmails } from './destroy-emails.ts'
import { readKeywords, readMailboxes, readReceivedAt, storeEmail } from './store-email.ts'
import { updateEmail } from './update-email.ts'

const TASK_MS = 20_000
const writeTask = taskIn<typeof import('../mime/write-message.task.ts')>(
  'features/jmap/mime/write-message',
)

export async function setEmails(call: Call, args: Arguments) {
  const { core, mail, createdIds } = call
  const doomed = destroyEmails(call, args)
  const result = await setObjects(args, createdIds, {
    state: async () => String(await stateOf(core.db, mail.account.id)),
    create: (object) => createEmail(call, object),
    update: (id, patch) => updateEmail(call, id, patch),
    destroy: doomed.destroy,
  })
  return { accountId: mail.account.id, ...result }
}

async function createEmail(call: Call, object: Patch) {
  const { core, mail } = call
  const { mailboxIds, keywords, receivedAt, ...email } = object
  const storing = {
    mailboxes: await readMailboxes(call, mailboxIds),
    keywords: readKeywords(keywords),
    receivedAt: readReceivedAt(receivedAt, core.now()),
  }
  const blobs = await readBlobs(call, checkEmail(email))
  const raw = await core.workers.run(
    writeTask,
    { email, blobs, domain: domainOf(mail.account.email), now: utcDate(core.now()) },
    { owner: mail.account.organizationId, timeLimitMs: TASK_MS },
  )
  return storeEmail(call, bufferOf(raw), storing)
}

async function readBlobs(call: Call, ids: readonly string[]): Promise<[string, Uint8Array][]> {
  const blobs: [string, Uint8Array][] = []
  let bytes = 0
  for (const id of new Set(ids)) {
    const blob = await call.blobs.read(call.mail, id)
    if (!blob) throw blobNotFound(id)
    bytes += blob.bytes.length
    if (bytes > LIMITS.maxSizeUpload) {
      throw new JmapError('tooLarge', { description: 'The attachments are too large' })
    }
    blobs.push([id, forThread(blob.bytes)])
  }
  return blobs
}
