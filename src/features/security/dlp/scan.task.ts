import { lruMap } from '../../../lib/lru-map.ts'
import { bufferOf } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { type MessageTexts, textsOf } from '../../../mime/texts.ts'
import {
  type CompiledPolicy,
  compilePolicy,
  type Match,
  type Patterns,
  plainly,
  startClock,
  TooSlow,
} from './scanning.ts'

const MAX_CACHED = 50

interface Input {
  /** The patterns of the policies as JSON: a worker thread compiles them once. */
  policies: string
  raw: Uint8Array
  timeLimitMs: number
}

/** A policy that found something or could not examine everything. */
export interface Scanned {
  /** Position in the list of policies. */
  policy: number
  match: Match | undefined
}

/** Text × patterns × policies: runs in a worker thread. */
export default async function scan({ policies, raw, timeLimitMs }: Input) {
  const clock = startClock(timeLimitMs)
  const message = new MimeMessage(bufferOf(raw))
  const texts = await textsOf(message)
  const plain: MessageTexts = { ...texts, passages: texts.passages.map(plainly) }
  const findings: Scanned[] = []
  let { unread } = texts
  for (const [policy, { find }] of compiled(policies).entries()) {
    let missed = texts.unread
    let match: Match | undefined
    try {
      match = find(plain, clock)
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error
      missed ??= error.message
      unread ??= missed
    }
    if (match || missed !== undefined) findings.push({ policy, match })
  }
  return { findings, unread, isEncrypted: message.summary.isEncrypted }
}

const cache = lruMap<string, CompiledPolicy[]>(MAX_CACHED)

function compiled(json: string): CompiledPolicy[] {
  const known = cache.get(json) ?? (JSON.parse(json) as Patterns[]).map(compilePolicy)
  cache.set(json, known)
  return known
}
