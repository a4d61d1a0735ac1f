import { keptPerOrganization } from '../../../content/kept.ts'
import { type Message, readMessage } from '../../../content/message.ts'
import { splitMessage } from '../../../content/split.ts'
import type { Outcome, Passing, Stage } from '../../../content/stage.ts'
import { type Contents, contentsOf } from '../../../content/texts.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { quarantineService } from '../../message-trace/quarantine.service.ts'
import { DlpViolation } from './dlp.events.ts'
import { notices } from './notices.ts'
import { enabledOf } from './policies.repository.ts'
import { type CompiledPolicy, compilePolicy, plainly, startClock, TooSlow } from './scanning.ts'
import { type Finding, refusalOf, takenFor, type Verdict, verdictOf } from './verdict.ts'
import { insert } from './violations.repository.ts'

const TIME_LIMIT_MS = 10_000
const MAX_RECIPIENTS = 20

export interface DlpStage extends Stage {
  /** Waits for notices that are being sent. */
  settled(): Promise<void>
  /** Waits for notices that are being sent, and hears of no more changes. */
  stop(): Promise<void>
}

/** Checks passing mail against its organization's policies, and does what they say. */
export function dlpStage(core: Core, { timeLimitMs = TIME_LIMIT_MS } = {}): DlpStage {
  const { db, events, now } = core
  const quarantine = quarantineService(core)
  const telling = notices(core)
  const kept = keptPerOrganization(core, 'mailplane_dlp_policies', async (organizationId) =>
    (await enabledOf(db, organizationId)).map(compilePolicy),
  )

  async function record(
    tx: Tx,
    message: Passing,
    about: Message,
    findings: Finding[],
    verdict: Verdict,
    unread: Contents['unread'],
  ) {
    const recipient = message.recipients.slice(0, MAX_RECIPIENTS).join(', ')
    const local = message.direction === 'outbound' ? message.sender : message.recipients[0]
    const rows = findings.map((finding) => ({
      organization_id: message.organizationId,
      policy_id: finding.policy.id,
      message_id: about.messageId,
      sender: message.sender,
      recipient,
      violation_type: finding.match?.type ?? 'not_examined',
      action_taken: takenFor(finding, verdict),
      severity: finding.policy.severity,
      has_match: finding.match !== undefined,
      matched_pattern: finding.match?.pattern ?? null,
      details: finding.match ? { where: finding.match.where } : { unread: unread ?? null },
      created_at: now().toISOString(),
    }))
    await insert(tx, rows)
    for (const [index, row] of rows.entries()) {
      const { sender, violation_type, action_taken, severity, message_id } = row
      const policy_name = findings[index]?.policy.name ?? ''
      const about = { org_id: message.organizationId, domain: domainOf(local ?? '') || null }
      await events.emit(tx, DlpViolation, about, {
        sender,
        recipient,
        violation_type,
        policy_name,
        action_taken,
        severity,
        message_id,
      })
    }
  }

  /** One entry for each recipient: each may be let out alone. */
  async function hold(tx: Tx, message: Passing, about: Message, { by }: Verdict) {
    for (const recipient of message.recipients) {
      await quarantine.hold(tx, {
        organization_id: message.organizationId,
        message_id: about.messageId,
        queue_id: null,
        sender: message.sender,
        recipient,
        subject: about.subject,
        reason: 'policy',
        rule_id: String(by.id),
        headers: {
          from: about.header('from')[0] ?? null,
          to: about.header('to')[0] ?? null,
          date: about.header('date')[0] ?? null,
        },
        content: message.raw,
      })
    }
  }

  return {
    name: 'dlp',
    async apply(message: Passing): Promise<Outcome> {
      const passed: Outcome = { kind: 'pass', messages: [message] }
      const all = await kept.of(message.organizationId)
      const policies = all.filter(
        ({ apply_to }) => apply_to === 'both' || apply_to === message.direction,
      )
      if (policies.length === 0) return passed
      const split = await splitMessage(message.raw)
      const about = readMessage(split, message.raw.length)
      const { findings, unread } = await examine(policies, await contentsOf(split), timeLimitMs)
      // What is sealed already needs no order to be.
      const open = findings.filter(
        ({ policy }) => !(policy.action === 'encrypt' && about.isEncrypted),
      )
      const verdict = verdictOf(open)
      if (!verdict) return passed
      await db.transaction().execute(async (tx) => {
        await record(tx, message, about, open, verdict, unread)
        if (verdict.action === 'quarantine') await hold(tx, message, about, verdict)
      })
      for (const { policy } of open) {
        if (policy.action === 'notify') telling.add(policy, message, about.messageId)
      }
      if (verdict.action === 'quarantine') return { kind: 'held' }
      if (verdict.action !== 'block' && verdict.action !== 'encrypt') return passed
      const match = open.find(({ policy }) => policy === verdict.by)?.match
      return { kind: 'reject', text: refusalOf(verdict, match ? undefined : unread) }
    },
    settled: () => telling.settled(),
    async stop() {
      await telling.settled()
      await kept.close()
    },
  }
}

/** Policies that found something; those that could not look at everything count as if they had. */
async function examine(
  policies: readonly CompiledPolicy[],
  contents: Contents,
  timeLimitMs: number,
): Promise<{ findings: Finding[]; unread: string | undefined }> {
  const plain = { ...contents, passages: contents.passages.map(plainly) }
  const clock = startClock(timeLimitMs)
  const findings: Finding[] = []
  let { unread } = contents
  for (const policy of policies) {
    let missed = contents.unread
    let match: Finding['match']
    try {
      match = await policy.find(plain, clock)
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error
      missed ??= error.message
      unread ??= missed
    }
    if (match || missed !== undefined) findings.push({ policy, match })
  }
  return { findings, unread }
}
