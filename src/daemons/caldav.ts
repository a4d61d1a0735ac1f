import { Registry } from 'prom-client'
import { davLogin, type Login } from '../features/caldav/login/login.ts'
import { davRoutes } from '../features/caldav/protocol/dav.routes.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Serves calendars and contacts to the programs of mailbox holders (CalDAV, CardDAV). */
export const caldav: Daemon = {
  async start(core) {
    const login = davLogin(core)
    const registry = caldavRegistry(login)
    return {
      features: [{ prefix: '', routes: davRoutes(core, login) }],
      metrics: () => registry.metrics(),
      async stop() {},
    }
  },
}

function caldavRegistry(login: Login): Registry {
  const registry = new Registry()
  scrapedCounter(
    {
      registry,
      name: 'caldav_logins_total',
      help: 'Logins of programs, by outcome: accepted or refused',
      label: 'outcome',
    },
    () => ({ ...login.counts }),
  )
  return registry
}
