import type { FastifyPluginAsync } from 'fastify'
import type { Core } from '../../../core.ts'
import { alertRoutes } from './alerts.routes.ts'
import { channelRoutes } from './channels/channels.routes.ts'
import { channelService } from './channels/channels.service.ts'
import { channelSender } from './delivery/channel-sender.ts'
import { historyService } from './history/history.service.ts'
import { ruleRoutes } from './rules/rules.routes.ts'
import { ruleService } from './rules/rules.service.ts'

export const alerts =
  (core: Core): FastifyPluginAsync =>
  async (app) => {
    const channels = channelService({ ...core, sender: channelSender(core) })
    await app.register(alertRoutes(historyService(core)))
    await app.register(ruleRoutes(ruleService(core)), { prefix: '/rules' })
    await app.register(channelRoutes(channels), { prefix: '/channels' })
  }
