import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { mailProgram } from '../../../access/labels.ts'
import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import { forThread } from '../../../lib/shared-bytes.ts'
import { OutOfTime, PoolBusy, taskIn } from '../../../lib/worker-pool.ts'
import type { JmapService } from '../jmap.service.ts'
import { pageHeaders } from './mail-page.ts'

const TASK_MS = 10_000
const route = { config: { auth: mailProgram() }, schema: { hide: true } }
const showTask = taskIn<typeof import('./show-mail.task.ts')>('features/jmap/view/show-mail')

interface View {
  Params: { accountId: string; blobId: string }
  Querystring: { remote?: string }
}

/** The HTML of a message for the web app: as a page for a sandboxed frame, and as text. */
export const viewRoutes =
  (
    { workers }: Pick<Core, 'workers'>,
    jmap: Pick<JmapService, 'login' | 'read'>,
  ): FastifyPluginAsync =>
  async (app) => {
    async function show(request: FastifyRequest<View>, withRemote: boolean) {
      const { accountId, blobId } = request.params
      const login = await jmap.login(request.caller, request.headers)
      const { bytes } = await jmap.read(login, accountId, blobId)
      const limits = { owner: login.holder.organization_id, timeLimitMs: TASK_MS }
      try {
        return await workers.run(showTask, { raw: forThread(bytes), withRemote }, limits)
      } catch (error) {
        if (error instanceof PoolBusy) throw new ApiError(503, 'The server is busy; try again')
        if (!(error instanceof OutOfTime)) throw error
        throw new ApiError(422, 'The message takes too long to show; download it instead')
      }
    }

    app.get<View>('/jmap/view/:accountId/:blobId', {
      ...route,
      handler: async (request, reply) => {
        const withRemote = request.query.remote === 'true'
        const { page } = await show(request, withRemote)
        return reply.headers(pageHeaders(withRemote)).send(page)
      },
    })

    app.get<View>('/jmap/view/:accountId/:blobId/text', {
      ...route,
      handler: async (request, reply) => {
        const { text, remotePictures } = await show(request, false)
        reply.header('cache-control', 'no-store')
        return { text, remote_pictures: remotePictures }
      },
    })
  }
