import type { Caller } from '../../../access/caller.ts'
import { Unprocessable } from '../../../errors.ts'
import { ulid } from '../../../lib/ulid.ts'
import { isAddress, isSameAddress } from '../../../sieve/address.ts'
import { blockedSenders } from '../../../sieve/blocked-senders.ts'
import { dryRun, type Message } from '../../../sieve/dry-run.ts'
import { forwarding } from '../../../sieve/forwarding.ts'
import { type Action, type Condition, RULE_MARKER, type Rule, rules } from '../../../sieve/rules.ts'
import { vacation } from '../../../sieve/vacation.ts'
import { holderOf } from '../holder.ts'
import { readComponent, saveComponent } from '../script-store/layout.ts'
import type { ScriptStore } from '../script-store/script-store.ts'

const MAX_RULES = 50

interface SentRule {
  id?: string | null
  name?: string | null
  match?: string
  conditions?: Condition[]
  actions?: Action[]
  enabled?: boolean
}

export type RuleService = ReturnType<typeof ruleService>

export const ruleService = (scripts: ScriptStore) => ({
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

  /** What would happen to a message, by the stored rules or by some that are not stored yet. */
  async test(caller: Caller, message: Message, sent?: readonly SentRule[]) {
    const { email } = holderOf(caller)
    const given = sent && normalized(sent, email)
    const settings = await scripts.read(email, async (session) => ({
      blocked: (await readComponent(session, blockedSenders)).settings,
      rules: given ?? (await readComponent(session, rules, RULE_MARKER)).settings,
      forwarding: (await readComponent(session, forwarding)).settings,
      vacation: (await readComponent(session, vacation)).settings,
    }))
    return dryRun(message, settings, email)
  },
})

/** Once: what is answered is what is stored, ids included. */
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
  if (action.type !== 'forward' || !to) return action
  if (!isAddress(to)) throw new Unprocessable(`A rule cannot forward to ${to}: it is no address`)
  if (isSameAddress(to, ownAddress)) throw new Unprocessable('A mailbox cannot forward to itself')
  return { ...action, value: to }
}
