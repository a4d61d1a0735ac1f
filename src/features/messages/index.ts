import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { traceService } from '../message-trace/trace.service.ts'
import { messageRoutes } from './messages.routes.ts'
import { messageService } from './messages.service.ts'
import { forgetOutgoingMail, sendOutgoingMail } from './sending/send-outbox.ts'
import type { SendingService } from './sending/sending.service.ts'

export const messages = (core: Core, { sending }: { sending: SendingService }): Feature => ({
  prefix: '/api/v1/messages',
  routes: messageRoutes(messageService({ db: core.db, trace: traceService(core) }), sending),
  capabilities: ['messages', 'sending'],
  chores: [sendOutgoingMail],
  jobs: [forgetOutgoingMail],
})
