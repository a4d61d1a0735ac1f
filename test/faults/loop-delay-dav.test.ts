import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { davClient } from '../support/dav.ts'
import { hostileDav } from '../support/hostile-dav.ts'
import { type Options, send } from '../support/http.ts'
import { type MeasuredServer, startMeasuredServer } from '../support/measured-server.ts'
import { cleanUp } from '../support/process.ts'

const BOUND_MS = 50
/** More than sixty requests of several megabytes take minutes, so all lanes together leave them out. */
const isAsked = process.env.MAILPLANE_LANES?.includes('faults') ?? true
const title = isAsked ? '' : ' (skipped: npm run test:faults runs it)'

let app: App
let server: MeasuredServer
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  if (!isAsked) return
  app = await startApp()
  acme = await app.tenant('acme')
  server = await startMeasuredServer(app, { SVC_SERVICES: 'api,worker,caldav' })
})
afterAll(async () => {
  await server?.stop()
  await app?.stop()
  await cleanUp()
})

it.skipIf(!isAsked)(
  `does not stand still for hostile calendars, contacts and XML (S4, S9)${title}`,
  async () => {
    const client = davClient(
      {
        send: (method: string, path: string, options?: Options) =>
          send(server.base, method, path, options),
      },
      acme.email,
    )
    await client.propfind('/dav/', '<D:displayname/>')
    const inputs = hostileDav(client, acme.accountId)
    expect(inputs.length).toBeGreaterThan(60)
    expect(await server.standstills(inputs, BOUND_MS)).toEqual([])
  },
)
