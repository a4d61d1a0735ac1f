import { Registry } from 'prom-client'
import type { Core } from '../core.ts'
import { outbox } from '../events/outbox.ts'
import { closeCounting, countingOf } from '../features/rate-limiter/counters/counting.ts'
import { internalRoutes } from '../features/rate-limiter/internal.routes.ts'
import { internalService } from '../features/rate-limiter/internal.service.ts'
import { limiter } from '../features/rate-limiter/limiter.ts'
import { rateLimiterService } from '../features/rate-limiter/rate-limiter.service.ts'
import { startSenders } from '../hosting/senders.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import { actionOf, type PolicyRequest, policyParser } from '../policy/protocol.ts'
import { startPolicyServices } from '../policy/services.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** Counts messages and answers the mail servers. Without Redis only one process per database counts. */
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
    const jobs = await runFeatureWork(core, 'rate_limiter')
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

    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'rate_limiter_decisions_total',
        help: 'Requests decided',
        label: 'decision',
      },
      () => {
        const { allowed, deferred, rejected } = policy.decisions
        return { allowed, deferred, rejected }
      },
    )
    scrapedCounter(
      {
        registry,
        name: 'rate_limiter_outages_total',
        help: 'Requests that could not be decided',
      },
      () => policy.outages,
    )
    scrapedGauge(
      { registry, name: 'rate_limiter_entities', help: 'Entities with a counter in use' },
      () => counting.size,
    )

    return {
      features: [
        {
          prefix: '',
          routes: internalRoutes({ service, policy: answerText(policy.decideRate), stats }),
        },
      ],
      metrics: () => registry.metrics(),
      /** For callers that start it in their own process, such as tests. */
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

/** Answers one request of the policy protocol that arrives as text over HTTP. */
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
