import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../../access/labels.ts'
import { Success, success } from '../../../../http/envelope.ts'
import { Reason } from '../../sessions/sessions.schemas.ts'
import { AlertChannelNotFound } from '../alerts.errors.ts'
import * as shapes from '../alerts.schemas.ts'
import type { ChannelService } from './channels.service.ts'

export const channelRoutes =
  (channels: ChannelService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_alert_channels',
        summary: 'List alert channels, newest first',
        querystring: shapes.ChannelQuery,
        response: { 200: Success(shapes.AlertChannels) },
      },
      handler: async ({ query }) => success('Alert channels retrieved', await channels.list(query)),
    })

    app.post('', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'create_alert_channel',
        summary: 'Create an alert channel',
        body: shapes.NewChannel,
        response: { 201: Success(shapes.AlertChannel) },
      },
      handler: async ({ caller, body }, reply) => {
        const created = await channels.create(caller, body)
        return reply.code(201).send(success('Alert channel created', created))
      },
    })

    app.delete('/:channel_id', {
      config: { auth: operator('operator'), errors: [AlertChannelNotFound] },
      schema: {
        operationId: 'delete_alert_channel',
        summary: 'Delete an alert channel; returns the rules that name it',
        params: shapes.ChannelParams,
        body: Reason,
        response: { 200: Success(shapes.ChannelDeleted) },
      },
      handler: async ({ caller, params }) =>
        success('Alert channel deleted', await channels.delete(caller, params.channel_id)),
    })

    app.post('/:channel_id/test', {
      config: { auth: operator('operator'), errors: [AlertChannelNotFound] },
      schema: {
        operationId: 'test_alert_channel',
        summary: 'Send a test through a channel; returns 200 also when delivery fails',
        params: shapes.ChannelParams,
        response: { 200: shapes.ChannelTested },
      },
      handler: async ({ caller, params }) => {
        const data = await channels.test(caller, params.channel_id)
        return data.delivered
          ? { type: 'success' as const, msg: 'Test notification delivered', data }
          : { type: 'error' as const, msg: 'Test notification not delivered', data }
      },
    })
  }
