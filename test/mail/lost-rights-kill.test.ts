import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT_KEY } from '../support/app.ts'
import { dovecotMissing } from '../support/dovecot.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { startTeam, type Team } from '../support/shared-team.ts'

const missing = dovecotMissing()

describe.skipIf(missing)(
  `a session of a member who loses rights${missing ? `: ${missing}` : ''}`,
  () => {
    let team: Team
    beforeAll(async () => {
      team = await startTeam({ isElsewhere: true })
    })
    afterAll(async () => {
      await cleanUp()
      await team?.stop()
    })

    const startWorker = () =>
      startServer({
        dataDir: temporaryFolder(),
        args: ['--services', 'worker'],
        env: {
          ...team.env,
          DATABASE_URL: team.app.database.url,
          SVC_SECRET_KEY: ROOT_KEY,
        },
      })

    it.each([
      ['before the change of rights', 'aclDelete', false],
      ['after the change of rights', 'aclDelete', true],
      ['before the end of sessions', 'kick', false],
      ['after the end of sessions', 'kick', true],
    ])('ends although the process is killed %s', async (_, command, isSent) => {
      const worker = await startWorker()
      await team.create({ jane: 'read_only', john: 'read_only' })
      const jane = await team.selected('jane')
      const john = await team.selected('john')
      team.doveadm.interrupt({ command, isSent, meanwhile: () => worker.signal('SIGKILL') })
      await team.acme.delete(team.member('jane'))
      await worker.ended
      const next = await startWorker()
      await jane.ended()
      await team.synchronized()
      expect(await team.sees('jane')).toBe(false)
      expect(await john.isOk('NOOP')).toBe(true)
      await team.reset()
      await next.stop()
    })
  },
)
