import type { Core } from '../core.ts'
import { STANDARD_PORTS } from '../edge/ports.ts'
import type { Outbox } from '../events/outbox.ts'
import { countries } from '../hosting/countries.ts'
import type { Senders } from '../hosting/senders.ts'
import { accessPolicy } from './access-policy.ts'
import { startAuthPolicy } from './auth-policy.ts'
import { authPolicyServer } from './auth-policy-server.ts'
import { type Listener, listenAt } from './listener.ts'
import { outage } from './outage.ts'
import { type RateCheck, ratePolicy } from './rate-policy.ts'
import { startRefusals } from './refusals.ts'
import { policyServer } from './server.ts'

interface Needs extends Core {
  limiter: RateCheck
  senders: Senders
  outbox: Outbox
}

/** The services that Postfix and Dovecot ask, each on its own port: rate limits, access, logins. */
export async function startPolicyServices(needs: Needs) {
  const { config, limiter, log, mailServers } = needs
  const host = config.POLICY_HOST
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
    rate: { server: rate.server, variable: 'POLICY_RATE_PORT' },
    access: { server: access.server, variable: 'POLICY_ACCESS_PORT' },
    auth: { server: auth, variable: 'AUTH_POLICY_PORT' },
  } as const
  const names = ['rate', 'access', 'auth'] as const
  const listeners: Partial<Record<keyof typeof places, Listener>> = {}
  // A private edge may start later and choose its ports.
  let moving = Promise.resolve()
  const removeListener = mailServers.onChange(() => {
    const current = mailServers.current()
    moving = moving.then(async () => {
      for (const name of names) await listeners[name]?.move(current[places[name].variable])
    })
  })
  const stop = async () => {
    removeListener()
    await moving
    for (const listener of Object.values(listeners)) listener.stop()
    await Promise.all([rate.stop(), access.stop(), closed(auth)])
    await logins.stop()
    await refusals.close()
  }
  try {
    for (const name of names) {
      const { server, variable } = places[name]
      const place = {
        host,
        port: mailServers.current()[variable],
        fallback: STANDARD_PORTS[name],
        variable,
        isSet: Boolean(config.mailServers[variable]),
      }
      listeners[name] = await listenAt(server, place, log)
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
    /** The ports; undefined while a port is in use by another process. */
    get ports() {
      const { rate: one, access: two, auth: three } = listeners
      return { rate: one?.port, access: two?.port, auth: three?.port }
    },
    logins,
    stop,
  }
}

/** Answers pending requests and closes idle connections. */
function closed(server: ReturnType<typeof authPolicyServer>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    setTimeout(() => server.closeAllConnections(), 500).unref()
  })
}
