import { bufferOf, shared } from '../../lib/shared-bytes.ts'
import { MessageDraft } from '../../mime/draft.ts'
import { MimeMessage } from '../../mime/message.ts'
import { TRACE_HEADER } from './trace.ts'
import type { Action } from './vocabulary.ts'

/** The changes for one group of recipients. */
export interface Version {
  edits: { rule: string; action: Action }[]
  /** The trace field of the copy that is sent on; undefined if there is no such copy. */
  trace: string | undefined
}

interface Edited {
  /** For the recipients of the message; undefined if nothing was changed. */
  original: Uint8Array | undefined
  forwarded: Uint8Array | undefined
  notes: string[]
}

/** Message × actions × groups: runs in a worker thread. */
export default async function edit({ raw, versions }: { raw: Uint8Array; versions: Version[] }) {
  const message = new MimeMessage(bufferOf(raw))
  const edited: Edited[] = []
  for (const { edits, trace } of versions) {
    const draft = new MessageDraft(message)
    const notes: string[] = []
    for (const { rule, action } of edits) {
      const why = await apply(draft, action)
      if (why !== undefined) notes.push(`${rule}: no disclaimer, because ${why}`)
    }
    const original = bytesOf(draft, message)
    if (trace !== undefined) {
      draft.removeHeader(TRACE_HEADER)
      draft.addHeader(TRACE_HEADER, trace)
    }
    edited.push({
      original,
      forwarded: trace === undefined ? undefined : bytesOf(draft, message),
      notes,
    })
  }
  return edited
}

async function apply(draft: MessageDraft, action: Action): Promise<string | undefined> {
  if (action.type === 'add_header') draft.addHeader(action.params.name, action.params.value)
  if (action.type === 'modify_subject') draft.changeSubject(action.params)
  return action.type === 'add_disclaimer' ? draft.addDisclaimer(action.params) : undefined
}

function bytesOf(draft: MessageDraft, before: MimeMessage): Uint8Array | undefined {
  const after = draft.write()
  return after === before ? undefined : shared(after.raw)
}
