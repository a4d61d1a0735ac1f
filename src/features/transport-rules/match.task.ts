import { lruMap } from '../../lib/lru-map.ts'
import { bufferOf } from '../../lib/shared-bytes.ts'
import { MimeMessage } from '../../mime/message.ts'
import { type CompiledRule, compileRule } from './matching.ts'
import { TRACE_HEADER } from './trace.ts'
import type { Rule } from './vocabulary.ts'

const MAX_CACHED = 50

interface Input {
  /** The rules as JSON: a worker thread compiles them once. */
  rules: string
  sender: string
  recipients: readonly string[]
  raw: Uint8Array
}

/** Recipients that matched an identical list of rules. */
export interface Group {
  recipients: string[]
  /** Positions in the list of rules. */
  rules: number[]
}

/** Message × conditions × rules: runs in a worker thread. */
export default function match({ rules, sender, recipients, raw }: Input) {
  const message = new MimeMessage(bufferOf(raw))
  const matches = compiled(rules).map((rule) => ({
    isLast: endsProcessing(rule),
    recipients: new Set(rule.matched({ sender, recipients, message })),
  }))
  const groups = new Map<string, Group>()
  for (const recipient of recipients) {
    const applied: number[] = []
    for (const [position, one] of matches.entries()) {
      if (!one.recipients.has(recipient)) continue
      applied.push(position)
      if (one.isLast) break
    }
    const key = applied.join()
    const group = groups.get(key) ?? { recipients: [], rules: applied }
    group.recipients.push(recipient)
    groups.set(key, group)
  }
  return { groups: [...groups.values()], traces: message.fields(TRACE_HEADER) }
}

/** No rule is applied after one that rejects or quarantines. */
const endsProcessing = ({ actions }: Rule): boolean =>
  actions.some(({ type }) => type === 'reject' || type === 'quarantine')

const cache = lruMap<string, CompiledRule[]>(MAX_CACHED)

function compiled(json: string): CompiledRule[] {
  const known = cache.get(json) ?? (JSON.parse(json) as Rule[]).map(compileRule)
  cache.set(json, known)
  return known
}
