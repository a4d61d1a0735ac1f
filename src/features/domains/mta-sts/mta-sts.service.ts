import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import { certificateProblem } from '../../../hosting/host-certificate.repository.ts'
import { type MtaStsMode, policyId, policyText, servedMode } from '../../../hosting/mta-sts.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainUpdated, eventData, eventSubject } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { setMode } from './mta-sts.repository.ts'
import { enforceProblems, policyUrl } from './readiness.ts'

export const MtaStsNotReady = defineError<string[]>({
  status: 409,
  code: 'MTA_STS_NOT_READY',
  message: (problems) =>
    `MTA-STS cannot be enforced, because mail would be refused: ${problems.join('; ')}`,
  data: (problems) => ({ problems }),
})

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'outbound' | 'withDns'>

export type MtaStsService = ReturnType<typeof mtaStsService>

export const mtaStsService = (needs: Needs) => ({
  get: async (caller: Caller, id: string) => shown(needs, await find(needs, caller, id)),

  /** `enforce` is stored only while certificate, DNS and the fetched policy are right. */
  async set(caller: Caller, id: string, mode: MtaStsMode) {
    const { change, events, now } = needs
    const row = await find(needs, caller, id)
    if (mode === 'enforce') {
      const { policy } = await shown(needs, row)
      const problems = await enforceProblems(needs, row, policy)
      if (problems.length > 0) throw new MtaStsNotReady(problems)
    }
    await change(caller, async (tx) => {
      const locked = await domains.lock(tx, caller.scope, id)
      if (!locked) throw new DomainNotFound()
      await setMode(tx, id, mode, now())
      await events.emit(tx, DomainUpdated, eventSubject(locked), {
        ...eventData(locked),
        updated_fields: ['mta_sts_mode'],
      })
    })
    return shown(needs, await find(needs, caller, id))
  },
})

async function find({ db }: Needs, caller: Caller, id: string): Promise<domains.DomainRow> {
  const row = await domains.find(db, caller.scope, id)
  if (!row) throw new DomainNotFound()
  return row
}

async function shown({ config, db, now }: Needs, row: domains.DomainRow) {
  const certificate = await certificateProblem(db, config.SVC_MAIL_HOSTNAME, now())
  const served = servedMode(row, certificate)
  const policy = policyText(served, config.SVC_MAIL_HOSTNAME)
  return {
    domain: row.domain,
    mode: row.mta_sts_mode,
    served_mode: served,
    policy,
    policy_id: policyId(policy),
    policy_url: policyUrl(row.domain),
    problems: [certificate, row.mta_sts_problem].filter((problem) => typeof problem === 'string'),
    checked_at: row.mta_sts_checked_at,
  }
}
