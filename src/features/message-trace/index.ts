import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { messageTraceRoutes } from './message-trace.routes.ts'
import { quarantineService } from './quarantine.service.ts'
import { traceService } from './trace.service.ts'

export const messageTrace = (core: Core): Feature => ({
  prefix: '/api/v1/message-trace',
  routes: messageTraceRoutes(traceService(core), quarantineService(core)),
  capabilities: ['message_trace'],
})
