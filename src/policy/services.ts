import { isLoopback } from '../access/internal.ts'
import { POLICY_PORTS } from '../config.rate-limits.ts'
import type { Core } from '../core.ts'
import type { Outbox } from '../events/outbox.ts'
import type { Limiter } from '../features/rate-limiter/limiter.ts'
import type { Senders } from '../features/rate-limiter/senders.ts'
import { countries } from '../features/security/geo-policies/countries.ts'
import { StartupError } from '../startup-error.ts'
import { accessPolicy } from './access-policy.ts'
import { startAuthPolicy } from './auth-policy.ts'
import { authPolicyServer } from './auth-policy-server.ts'
import { type Listener, listenAt } from './listener.ts'
import { outage } from './outage.ts'
import { ratePolicy } from './rate-policy.ts'
import { startRefusals } from './refusals.ts'
import { policyServer } from './server.ts'

interface Needs extends Core {
  limiter: Limiter
  senders: Senders
  outbox: Outbox
}

export type PolicyServices = Awaited<ReturnType<typeof startPolicyServices>>

/** What Postfix and Dovecot ask: limits, access rules, logins. Each on a port of its own. */
export async function startPolicyServices(needs: Needs) {
  const { config, limiter, log } = needs
  const host = config.POLICY_HOST
  if (!isLoopback(host) && config.SVC_INTERNAL_TOKEN === undefined) {
    throw new StartupError(`POLICY_HOST ${host} is open to others: set SVC_INTERNAL_TOKEN too`)
  }
  const decisions = { allowed: 0, deferred: 0, rejected: 0 }
  const failing = outage(needs)
  const decideRate = ratePolicy({
    limiter,
    outage: failing,
    decided(action) {
      if (action === 'DUNNO') decisions.allowed++
      else if (action.startsWith('REJECT')) decisions.rejected++
      else decisions.deferred++
    },
  })
  const refusals = await startRefusals(needs)
  const decideAccess = accessPolicy({
    ...needs,
    refusals,
    outage: failing,
    countries: countries(config.GEOIP_DATABASE, log),
  })
  const logins = await startAuthPolicy(needs)
  const rate = policyServer(decideRate, log)
  const access = policyServer(decideAccess, log)
  const auth = authPolicyServer({ ...needs, policy: logins })
  const places = {
    rate: { server: rate.server, port: config.POLICY_RATE_PORT, variable: 'POLICY_RATE_PORT' },
    access: {
      server: access.server,
      port: config.POLICY_ACCESS_PORT,
      variable: 'POLICY_ACCESS_PORT',
    },
    auth: { server: auth, port: config.AUTH_POLICY_PORT, variable: 'AUTH_POLICY_PORT' },
  }
  const listeners: Partial<Record<keyof typeof places, Listener>> = {}
  const stop = async () => {
    for (const listener of Object.values(listeners)) listener.stop()
    await Promise.all([rate.stop(), access.stop(), closed(auth)])
    await logins.stop()
    await refusals.close()
  }
  try {
    for (const name of ['rate', 'access', 'auth'] as const) {
      const { server, ...place } = places[name]
      listeners[name] = await listenAt(
        server,
        { ...place, host, fallback: POLICY_PORTS[name] },
        log,
      )
    }
  } catch (error) {
    await stop()
    throw error
  }

  return {
    decideRate,
    decisions,
    refusals,
    get outages() {
      return failing.count
    },
    /** Where they listen; undefined while a port is taken. */
    get ports() {
      const { rate: one, access: two, auth: three } = listeners
      return { rate: one?.port, access: two?.port, auth: three?.port }
    },
    logins,
    stop,
  }
}

/** Requests under way are answered; connections that only wait are closed. */
function closed(server: ReturnType<typeof authPolicyServer>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 500).unref()
  })
}
