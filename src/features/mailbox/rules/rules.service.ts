import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { isAddress, isSameAddress } from '../../../sieve/address.ts'
import { blockedSenders } from '../../../sieve/blocked-senders.ts'
import type { Message } from '../../../sieve/dry-run.ts'
import { folderProblem } from '../../../sieve/folder.ts'
import { forwarding } from '../../../sieve/forwarding.ts'
import { type Action, type Condition, RULE_MARKER, type Rule, rules } from '../../../sieve/rules.ts'
import { vacation } from '../../../sieve/vacation.ts'
import { holderOf } from '../holder.ts'
import { readComponent, saveComponent } from '../script-store/layout.ts'
import type { ScriptStore } from '../script-store/script-store.ts'

const MAX_RULES = 50
const TEST_LIMIT_MS = 5000

const dryRun = taskIn<typeof import('./dry-run.task.ts')>('features/mailbox/rules/dry-run')

interface SentRule {
  id?: string | null
  name?: string | null
  match?: string
  conditions?: Condition[]
  actions?: Action[]
  enabled?: boolean
}

export type RuleService = ReturnType<typeof ruleService>

export const ruleService = (scripts: ScriptStore, { workers }: Pick<Core, 'workers'>) => ({
  async get(caller: Caller) {
    const { settings, managed } = await scripts.read(holderOf(caller).email, (session) =>
      readComponent(session, rules, RULE_MARKER),
    )
    return { rules: settings, managed }
  },

  async save(caller: Caller, sent: readonly SentRule[] = []) {
    const holder = holderOf(caller)
    const all = normalized(sent, holder.email)
    await scripts.edit(caller, holder, (session) =>
      saveComponent(session, rules.name, rules.write(all)),
    )
    return { rules: all, managed: true }
  },

  /** Simulates a message, with the stored rules or with rules of the request. */
  async test(caller: Caller, message: Message, sent?: readonly SentRule[]) {
    const { email } = holderOf(caller)
    const given = sent && normalized(sent, email)
    const settings = await scripts.read(email, async (session) => ({
      blocked: (await readComponent(session, blockedSenders)).settings,
      rules: given ?? (await readComponent(session, rules, RULE_MARKER)).settings,
      forwarding: (await readComponent(session, forwarding)).settings,
      vacation: (await readComponent(session, vacation)).settings,
    }))
    const limits = { owner: caller.organizationId ?? '', timeLimitMs: TEST_LIMIT_MS }
    return workers.run(dryRun, { message, settings, ownAddress: email }, limits)
  },
})

/** Assigns ids once, so that the response shows the stored rules. */
function normalized(sent: readonly SentRule[], ownAddress: string): Rule[] {
  if (sent.length > MAX_RULES) throw new Unprocessable(`At most ${MAX_RULES} rules`)
  return sent.map(({ id, name, match, conditions = [], actions = [], enabled = true }) => ({
    id: id || ulid(),
    name: name || 'Rule',
    match: match === 'any' ? 'any' : 'all',
    conditions,
    actions: actions.map((action) => checked(action, ownAddress)),
    enabled,
  }))
}

function checked(action: Action, ownAddress: string): Action {
  const to = action.value?.trim()
  if (!to) return action
  if (action.type === 'move') {
    const problem = folderProblem(to)
    if (problem) throw new Unprocessable(`A rule cannot move to the folder ${to}: ${problem}`)
    return { ...action, value: to }
  }
  if (action.type !== 'forward') return action
  if (!isAddress(to)) throw new Unprocessable(`A rule cannot forward to ${to}: it is no address`)
  if (isSameAddress(to, ownAddress)) throw new Unprocessable('A mailbox cannot forward to itself')
  return { ...action, value: to }
}
