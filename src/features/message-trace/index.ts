import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { keepLogDays } from '../mail-log/mail-log.days.ts'
import { moveDays } from '../mail-log/past-days/move-days.ts'
import { blockedSenderRoutes } from './blocked-senders.routes.ts'
import { deleteOldScores, expireQuarantine } from './message-trace.jobs.ts'
import { messageTraceRoutes } from './message-trace.routes.ts'
import { quarantineService } from './quarantine.service.ts'
import { traceService } from './trace.service.ts'

const PREFIX = '/api/v1/message-trace'

export const messageTrace = (core: Core): Feature[] => {
  const quarantine = quarantineService(core)
  return [
    {
      prefix: PREFIX,
      isPatient: true,
      routes: messageTraceRoutes(traceService(core), quarantine),
      capabilities: ['message_trace'],
      jobs: [expireQuarantine, deleteOldScores, keepLogDays],
      chores: [moveDays],
    },
    { prefix: PREFIX, routes: blockedSenderRoutes(quarantine) },
  ]
}
