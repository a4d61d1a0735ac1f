import { Registry } from 'prom-client'
import { davLogin, type Login } from '../features/caldav/login/login.ts'
import { davRoutes } from '../features/caldav/protocol/dav.routes.ts'
import { type SendCounts, sendCalendarMail } from '../features/caldav/scheduling/send-outbox.ts'
import { runChores } from '../jobs/chores.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Serves calendars and contacts to the programs of mailbox holders (CalDAV, CardDAV). */
export const caldav: Daemon = {
  async start(core) {
    const login = davLogin(core)
    const messages = { sent: 0, failed: 0 }
    const registry = caldavRegistry(login, messages)
    const chores = await runChores(core, [sendCalendarMail(messages)])
    return {
      features: [{ prefix: '', routes: davRoutes(core, login) }],
      metrics: () => registry.metrics(),
      stop: () => chores.stop(),
    }
  },
}

function caldavRegistry(login: Login, messages: SendCounts): Registry {
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
  scrapedCounter(
    {
      registry,
      name: 'caldav_messages_total',
      help: 'Invitations and replies handed over to the mail server, by outcome: sent or failed',
      label: 'outcome',
    },
    () => ({ ...messages }),
  )
  return registry
}
