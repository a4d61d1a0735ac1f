import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { dovecotMissing } from '../support/dovecot.ts'
import type { ImapClient } from '../support/mail-program.ts'
import { startTeam, TEAM, TEAM_EMAIL, type Team } from '../support/shared-team.ts'

const missing = dovecotMissing()
const LETTER = 'Subject: x\r\n\r\nhello\r\n'
const HOLDS = '/api/v1/compliance/legal-holds'

describe.skipIf(missing)(
  `an open IMAP session of a member of a shared mailbox${missing ? `: ${missing}` : ''}`,
  () => {
    let team: Team
    beforeAll(async () => {
      team = await startTeam()
    })
    afterAll(() => team.stop())
    afterEach(() => team.reset())

    const isOpen = (client: ImapClient) => client.isOk('NOOP')

    it('ends when the member is removed, also with IDLE, and those of others stay', async () => {
      await team.create({ jane: 'full_access', john: 'full_access' })
      const jane = [await team.selected('jane'), await team.selected('jane')]
      await jane[1]?.idle()
      const john = await team.selected('john')
      const change = await (await team.selected('john')).idle()
      const mary = await team.open('mary')
      expect((await team.acme.delete(team.member('jane'))).status).toBe(200)
      for (const client of jane) await client.ended()
      expect(await team.sees('jane')).toBe(false)
      await team.synchronized()
      expect(await john.isOk(`APPEND "${TEAM}"`, LETTER)).toBe(true)
      await change('EXISTS')
      expect(await isOpen(mary)).toBe(true)
    })

    it('ends in a folder that the member made', async () => {
      await team.create({ jane: 'full_access' })
      const maker = await team.open('jane')
      expect(await maker.isOk(`CREATE "${TEAM}/Done"`)).toBe(true)
      const jane = await team.selected('jane', `${TEAM}/Done`)
      await team.acme.delete(team.member('jane'))
      await jane.ended()
      expect(await (await team.open('jane')).isOk(`SELECT "${TEAM}/Done"`)).toBe(false)
    })

    it('ends when the permission is reduced, and stays with more or the same rights', async () => {
      await team.create({
        jane: 'full_access',
        john: 'read_only',
        anne: 'send_as',
        mary: 'full_access',
      })
      const jane = await team.selected('jane')
      const stay = await Promise.all(['john', 'anne', 'mary'].map((name) => team.selected(name)))
      await team.acme.put(team.member('john'), { permission: 'full_access' })
      await team.acme.put(team.member('anne'), { permission: 'read_only' })
      await team.acme.put(team.member('jane'), { permission: 'read_only' })
      await jane.ended()
      const again = await team.selected('jane')
      expect(await again.isOk(`APPEND "${TEAM}"`, LETTER)).toBe(false)
      await team.synchronized()
      for (const client of [...stay, again]) expect(await isOpen(client)).toBe(true)
      const john = await team.open('john')
      expect(await john.isOk(`APPEND "${TEAM}"`, LETTER)).toBe(true)
    })

    it('ends when the member is suspended or deleted', async () => {
      await team.create({ jane: 'read_only', rita: 'read_only' })
      const jane = await team.selected('jane')
      const rita = await team.selected('rita')
      await team.acme.put(team.account('jane'), { status: 'suspended' })
      await jane.ended()
      expect(await isOpen(rita)).toBe(true)
      expect((await team.acme.delete(team.account('rita'))).status).toBe(200)
      await rita.ended()
      await team.acme.put(team.account('jane'), { status: 'active' })
    })

    it('ends when a legal hold takes the right to remove mail, not at its release', async () => {
      await team.create({ jane: 'full_access', john: 'read_only' })
      const jane = await team.selected('jane')
      const john = await team.selected('john')
      const owner = await team.app.operator('owner')
      const placed = await owner.post(HOLDS, {
        name: 'Case 17',
        organization_id: team.acme.organizationId,
        custodians: [TEAM_EMAIL],
        reason: 'a dispute about mail',
      })
      expect(placed.status, placed.text).toBe(201)
      await jane.ended()
      const again = await team.selected('jane')
      const released = await owner.post(`${HOLDS}/${placed.body.data.id}/release`, {
        reason: 'the dispute is settled',
      })
      expect(released.status, released.text).toBe(200)
      await team.synchronized()
      for (const client of [again, john]) expect(await isOpen(client)).toBe(true)
    })

    it('ends when the shared mailbox is deleted', async () => {
      await team.create({ jane: 'read_only' })
      const jane = await team.selected('jane')
      await team.acme.delete(team.path())
      await jane.ended()
      expect(await team.sees('jane')).toBe(false)
    })

    it.each([
      ['does not take the change of rights', 'aclDelete', false],
      ['does not answer the change of rights', 'aclDelete', true],
      ['does not end sessions', 'kick', false],
    ])('ends at a later attempt when Dovecot %s', async (_, command, isSent) => {
      await team.create({ jane: 'read_only', john: 'read_only' })
      const jane = await team.selected('jane')
      const john = await team.selected('john')
      team.doveadm.interrupt({ command, isSent })
      await team.acme.delete(team.member('jane'))
      await jane.ended()
      expect(team.doveadm.isInterrupted).toBe(true)
      expect(await team.sees('jane')).toBe(false)
      await team.synchronized()
      expect(await isOpen(john)).toBe(true)
    })

    it('has the new rights when it begins before those with the old ones are ended', async () => {
      await team.create({ jane: 'full_access' })
      const old = await team.selected('jane')
      expect(await old.isOk(`APPEND "${TEAM}"`, LETTER)).toBe(true)
      const may: boolean[] = []
      let begun: ImapClient | undefined
      team.doveadm.interrupt({
        command: 'kick',
        isSent: false,
        async meanwhile() {
          begun = await team.selected('jane')
          may.push(await begun.isOk('FETCH 1 BODY.PEEK[]'))
          may.push(await begun.isOk(`APPEND "${TEAM}"`, LETTER))
        },
      })
      await team.acme.put(team.member('jane'), { permission: 'read_only' })
      for (const client of [old, begun]) await client?.ended()
      expect(may).toEqual([true, false])
    })

    it('ends when a killed process had changed the rights and not ended it', async () => {
      await team.create({ jane: 'read_only', john: 'read_only' })
      const jane = await team.selected('jane')
      const john = await team.selected('john')
      // The row that the process leaves.
      await sql`insert into shared_mailbox_rights_pending (email, losing)
        values (${TEAM_EMAIL}, array['jane@acme.test'])`.execute(team.app.core.db)
      await jane.ended()
      await team.synchronized()
      expect(await isOpen(john)).toBe(true)
    })

    it('stays when all rights are compared at a start', async () => {
      await team.create({ jane: 'full_access', john: 'read_only' })
      const stay = [await team.selected('jane'), await team.selected('john')]
      const next = await startApp({ env: team.env, database: team.app.database })
      try {
        await team.synchronized()
        for (const client of stay) expect(await isOpen(client)).toBe(true)
      } finally {
        await next.stop()
      }
    })
  },
)
