import { optionalIds } from '../core/arguments.ts'
import { invalidArguments, JmapError } from '../core/errors.ts'
import { CORE } from '../core/limits.ts'
import type { Method } from '../core/method.ts'
import { orNull } from '../core/set-objects.ts'

/** RFC 8620 section 6.3. */
const copy: Method = {
  capability: CORE,
  isWriting: true,
  async run({ blobs, mail, source }, args) {
    const ids = optionalIds(args, 'blobIds')
    if (!ids) throw invalidArguments('blobIds must be a list of strings')
    if (!source) throw new JmapError('fromAccountNotFound')
    const copied: Record<string, string> = {}
    const notCopied: Record<string, object> = {}
    for (const id of new Set(ids)) {
      const blob = await blobs.read(source, id)
      if (blob) copied[id] = await blobs.copy(mail.account, blob)
      else notCopied[id] = { type: 'blobNotFound' }
    }
    return {
      fromAccountId: source.account.id,
      accountId: mail.account.id,
      copied: orNull(copied),
      notCopied: orNull(notCopied),
    }
  },
}

export const blobMethods: Record<string, Method> = { 'Blob/copy': copy }
