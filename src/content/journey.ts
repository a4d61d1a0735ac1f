import type { Db } from '../database/database.ts'
import type { Senders } from '../hosting/senders.ts'
import { destinationsOf } from './destinations.ts'
import { runStages } from './run-stages.ts'
import { type Mail, type Stage, TryLater } from './stage.ts'

/** Mail of one organization on its way through this host. */
export interface Part {
  mail: Mail
  /** True if the stages of the organization apply. */
  hasStages?: boolean
  /** The login to sign the message for; undefined for mail that is not signed. */
  signedFor?: string | undefined
  /** The account whose recipients are counted; Postfix has counted the original ones. */
  account?: string
}

export interface Delivered {
  passed: Part[]
  rejected: { mail: Mail; text: string }[]
  held: Mail[]
}

/** Counts recipients that Postfix did not see; returns the reason of a refusal. */
export type Recount = (account: string, recipients: number) => Promise<string | undefined>

interface Needs {
  db: Db
  senders: Pick<Senders, 'find'>
  stages: readonly Stage[]
  recount: Recount
}

/**
 * Runs the stages of every organization that a message reaches, each organization once: those of the
 * sender, then those of recipients on this host, also when an alias or a rule leads to them.
 */
export async function passOn(needs: Needs, parts: readonly Part[]): Promise<Delivered> {
  const result: Delivered = { passed: [], rejected: [], held: [] }
  const more = new Map<string, number>()
  for (const part of parts) await visit(needs, part, new Set(), result, more)
  for (const [account, recipients] of more) {
    if (recipients <= 0) continue
    const refusal = await needs.recount(account, recipients)
    if (refusal !== undefined) throw new TryLater(refusal)
  }
  return result
}

async function visit(
  needs: Needs,
  part: Part,
  visited: ReadonlySet<string>,
  result: Delivered,
  more: Map<string, number>,
): Promise<void> {
  const { mail } = part
  const { organizationId } = mail
  const filtered = part.hasStages
    ? await runStages(needs.stages, mail)
    : { passed: [mail], rejected: [], held: [] }
  result.rejected.push(...filtered.rejected)
  result.held.push(...filtered.held)
  const seen = new Set([...visited, organizationId])
  const isSent = part.account !== undefined
  // Mail from outside that leaves the organization again counts for the recipient that it had.
  const account = part.account ?? mail.recipients[0]?.toLowerCase()
  let counted = isSent ? -mail.recipients.length : 0
  for (const passed of filtered.passed) {
    const { here, elsewhere, leaving, total } = await destinationsOf(
      needs,
      organizationId,
      passed.recipients,
    )
    counted += isSent ? total : leaving
    const own = [...here]
    for (const [other, recipients] of elsewhere) {
      if (seen.has(other)) {
        own.push(...recipients)
        continue
      }
      const next = {
        ...passed,
        direction: 'inbound' as const,
        organizationId: other,
        recipients,
      }
      await visit(
        needs,
        { mail: next, hasStages: true, signedFor: part.signedFor },
        seen,
        result,
        more,
      )
    }
    if (own.length > 0) {
      const signedFor = isSame(mail, passed) ? part.signedFor : signedAfter(part, passed)
      result.passed.push({ mail: { ...passed, recipients: own }, signedFor })
    }
  }
  if (account !== undefined) more.set(account, (more.get(account) ?? 0) + counted)
}

const isSame = (one: Mail, other: Mail): boolean => one.message === other.message

/**
 * A sender signs what its own organization made of the message. Changes of another organization are
 * not signed; headers that its spam filter puts in front do no harm.
 */
function signedAfter({ mail, signedFor }: Part, passed: Mail): string | undefined {
  if (mail.direction === 'outbound') return signedFor
  const [before, after] = [mail.message.raw, passed.message.raw]
  const end = after.subarray(Math.max(0, after.length - before.length))
  return end.equals(before) ? signedFor : undefined
}
