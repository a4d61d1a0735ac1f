import { settingsPerOrganization } from '../../../content/settings-cache.ts'
import type { Mail, Outcome, Stage } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import type { MessageTexts } from '../../../mime/texts.ts'
import { quarantineService } from '../../message-trace/quarantine.service.ts'
import { DlpViolation } from './dlp.events.ts'
import { notices } from './notices.ts'
import { enabledOf, type PolicyRow } from './policies.repository.ts'
import { TOO_SLOW } from './scanning.ts'
import { actionTaken, type Finding, refusalOf, type Verdict, verdictOf } from './verdict.ts'
import { insert } from './violations.repository.ts'

const TIME_LIMIT_MS = 10_000
/** The scan stops by itself at its limit; a single step of it may take longer. */
const END_AFTER_MS = 5000
const MAX_RECIPIENTS = 20

const scanTask = taskIn<typeof import('./scan.task.ts')>('features/security/dlp/scan')

export interface DlpStage extends Stage {
  /** Waits for notices that are being sent. */
  settled(): Promise<void>
  /** Waits for notices that are being sent and stops listening for changes. */
  stop(): Promise<void>
}

/** Checks passing mail against the DLP policies of the organization and applies their actions. */
export function dlpStage(core: Core, { timeLimitMs = TIME_LIMIT_MS } = {}): DlpStage {
  const { db, events, now, workers } = core
  const quarantine = quarantineService(core)
  const notifier = notices(core)
  const policiesCache = settingsPerOrganization(
    core,
    'mailplane_dlp_policies',
    async (organizationId) => {
      const all = await enabledOf(db, organizationId)
      return { inbound: policySet(all, 'inbound'), outbound: policySet(all, 'outbound') }
    },
  )

  async function record(
    tx: Tx,
    mail: Mail,
    findings: Finding[],
    verdict: Verdict,
    unread: MessageTexts['unread'],
  ) {
    const recipient = mail.recipients.slice(0, MAX_RECIPIENTS).join(', ')
    const local = mail.direction === 'outbound' ? mail.sender : mail.recipients[0]
    const rows = findings.map((finding) => ({
      organization_id: mail.organizationId,
      policy_id: finding.policy.id,
      message_id: mail.message.messageId,
      sender: mail.sender,
      recipient,
      violation_type: finding.match?.type ?? 'not_examined',
      action_taken: actionTaken(finding, verdict),
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
      const about = { org_id: mail.organizationId, domain: domainOf(local ?? '') || null }
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

  /** Policies with a match. Without one, a policy that could not examine everything also counts. */
  async function examine({ policies, json }: PolicySet, mail: Mail) {
    const input = { policies: json, raw: forThread(mail.message.raw), timeLimitMs }
    const limits = { owner: mail.organizationId, timeLimitMs: timeLimitMs + END_AFTER_MS }
    try {
      const { findings, ...more } = await workers.run(scanTask, input, limits)
      const found = findings.map(({ policy, match }) => ({
        policy: policies[policy] as PolicyRow,
        match,
      }))
      return { findings: found, ...more }
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error
      const missed: Finding[] = policies.map((policy) => ({ policy, match: undefined }))
      return { findings: missed, unread: TOO_SLOW, isEncrypted: false }
    }
  }

  return {
    name: 'dlp',
    async apply(mail: Mail): Promise<Outcome> {
      const passed: Outcome = { kind: 'pass', mails: [mail] }
      const { [mail.direction]: set } = await policiesCache.of(mail.organizationId)
      if (set.policies.length === 0) return passed
      const { findings, isEncrypted, unread } = await examine(set, mail)
      // An encrypted message already does what an encryption policy demands.
      const open = findings.filter(({ policy }) => !(policy.action === 'encrypt' && isEncrypted))
      const verdict = verdictOf(open)
      if (!verdict) return passed
      await db.transaction().execute(async (tx) => {
        await record(tx, mail, open, verdict, unread)
        if (verdict.action === 'quarantine') {
          await quarantine.holdMail(tx, mail, {
            reason: 'policy',
            rule_id: String(verdict.by.id),
          })
        }
      })
      for (const { policy } of open) {
        if (policy.action === 'notify') notifier.add(policy, mail, mail.message.messageId)
      }
      if (verdict.action === 'quarantine') return { kind: 'held' }
      if (verdict.action !== 'block' && verdict.action !== 'encrypt') return passed
      const match = open.find(({ policy }) => policy === verdict.by)?.match
      return { kind: 'reject', text: refusalOf(verdict, match ? undefined : unread) }
    },
    settled: () => notifier.settled(),
    async stop() {
      await notifier.settled()
      await policiesCache.close()
    },
  }
}

/** Policies that apply to one direction, with the form in which worker threads get them. */
interface PolicySet {
  policies: PolicyRow[]
  json: string
}

function policySet(all: readonly PolicyRow[], direction: Mail['direction']): PolicySet {
  const policies = all.filter(({ apply_to }) => apply_to === 'both' || apply_to === direction)
  const patterns = policies.map(({ patterns, policy_type }) => ({ patterns, policy_type }))
  return { policies, json: JSON.stringify(patterns) }
}
