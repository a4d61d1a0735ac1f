import { setTimeout as sleep } from 'node:timers/promises'
import { defaultPort } from '../daemons/index.ts'
import { startHeartbeat } from '../features/monitoring/heartbeat.ts'
import { httpServer } from '../http/server.ts'
import { PROCESS } from '../jobs/lease.ts'
import { drain, refuseConnections } from './drain.ts'
import { addHealth, listen, prepareBootstrap, type Start, startServices } from './start-services.ts'

/** Runs all chosen daemons in this process, behind one listener. */
export async function startAlone(start: Start) {
  const { config, daemons, closers, stopping } = start
  const started = await startServices(start)
  const { core, services } = started
  const tokenFiles = await prepareBootstrap(core)
  addHealth(started)
  const app = await httpServer(core, services)
  closers.push(() => drain(app))
  stopping.throwIfAborted()
  const url = await listen(app, config.HOST, config.PORT ?? defaultPort(daemons))
  closers.push(startHeartbeat(core, services, url, PROCESS).stop)
  if (config.SVC_DRAIN_SECONDS > 0) closers.push(() => sleep(config.SVC_DRAIN_SECONDS * 1000))
  // Before any client is told to close its connection and opens another one.
  else stopping.addEventListener('abort', () => void refuseConnections(app.server))
  return { url, tokenFiles }
}
