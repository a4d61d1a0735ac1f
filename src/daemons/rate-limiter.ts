import type { Core } from '../core.ts'
import { outbox } from '../events/outbox.ts'
import { closeCounting, countingOf } from '../features/rate-limiter/counting.ts'
import { internalRoutes } from '../features/rate-limiter/internal.routes.ts'
import { internalService } from '../features/rate-limiter/internal.service.ts'
import { limiter } from '../features/rate-limiter/limiter.ts'
import { deleteOldUsage } from '../features/rate-limiter/rate-limiter.jobs.ts'
import { rateLimiterService } from '../features/rate-limiter/rate-limiter.service.ts'
import { startSenders } from '../features/rate-limiter/senders.ts'
import { runJobs } from '../jobs/jobs.ts'
import { actionOf, type PolicyRequest, policyParser } from '../policy/protocol.ts'
import { startPolicyServices } from '../policy/services.ts'
import type { Daemon } from './daemon.ts'

/** Counts messages and answers the mail servers. Without Redis one process of a database does. */
export const rateLimiter = {
  async start(core: Core) {
    const counting = countingOf(core)
    const { counters } = counting
    const waiting = outbox(core)
    const senders = await startSenders(core)
    const deciding = limiter({ ...core, counters, senders, outbox: waiting })
    await counting.start(waiting, () => senders.settled())
    const policy = await startPolicyServices({
      ...core,
      limiter: deciding,
      senders,
      outbox: waiting,
    }).catch(async (error) => {
      await counting.stop()
      await senders.close()
      throw error
    })
    const jobs = runJobs(core, [deleteOldUsage])
    const limits = rateLimiterService({ ...core, counting: () => counting })
    const service = internalService({
      ...core,
      counting,
      limiter: deciding,
      limits,
      senders,
      refusals: policy.refusals,
    })
    const stats = () => ({
      ...policy.decisions,
      outages: policy.outages,
      entities: counting.size,
      counts_here: counting.isOwner,
      ports: policy.ports,
    })

    return {
      features: [
        {
          prefix: '',
          routes: internalRoutes({ service, policy: answerText(policy.decideRate), stats }),
        },
      ],
      metrics: () => {
        const { allowed, deferred, rejected } = policy.decisions
        return [
          '# TYPE rate_limiter_decisions_total counter',
          `rate_limiter_decisions_total{decision="allowed"} ${allowed}`,
          `rate_limiter_decisions_total{decision="deferred"} ${deferred}`,
          `rate_limiter_decisions_total{decision="rejected"} ${rejected}`,
          '# HELP rate_limiter_outages_total Requests that could not be decided',
          '# TYPE rate_limiter_outages_total counter',
          `rate_limiter_outages_total ${policy.outages}`,
          '# TYPE rate_limiter_entities gauge',
          `rate_limiter_entities ${counting.size}`,
        ].join('\n')
      },
      /** For those who start it in their own process: where it listens, and what it holds back. */
      policy,
      settled: () => senders.settled(),
      flush: async () => {
        await counting.flush()
        await policy.logins.flush()
      },
      async stop() {
        await jobs.stop()
        await policy.stop()
        await counting.stop()
        await senders.close()
        closeCounting(core)
      },
    }
  },
} satisfies Daemon

/** The policy protocol in one piece of text, as it comes over HTTP. */
const answerText =
  (decide: (request: PolicyRequest) => string | Promise<string>) =>
  async (text: string): Promise<string> => {
    let answer: string | Promise<string> = 'DUNNO'
    const parser = policyParser((request) => {
      answer = decide(request)
    })
    parser.push(Buffer.from(`${text}\n\n`))
    return actionOf(await answer)
  }
