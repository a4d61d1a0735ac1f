import { expect } from 'vitest'
import { startApp } from './app.ts'
import { startDoveadmProxy } from './doveadm-proxy.ts'
import { startDovecot } from './dovecot.ts'
import { type ImapClient, signIn } from './mail-program.ts'
import { insertMailbox } from './mailboxes.ts'
import { orStop } from './or-stop.ts'
import { waitFor } from './wait.ts'

const PATH = '/api/v1/shared-mailboxes'
const NAMES = ['jane', 'john', 'mary', 'anne', 'rita']

export const TEAM_EMAIL = 'team@acme.test'
/** The shared mailbox as members see it over IMAP. */
export const TEAM = `Shared/${TEAM_EMAIL}`

export type Team = Awaited<ReturnType<typeof startTeam>>

/**
 * A shared mailbox in a real Dovecot, and mailboxes that can be its members. With `isElsewhere` the rights are
 * left to a process of the test, which reaches Dovecot by `env`.
 */
export async function startTeam({ isElsewhere = false } = {}) {
  const dovecot = await startDovecot({
    [TEAM_EMAIL]: '{PLAIN}!',
    ...Object.fromEntries(NAMES.map((name) => [`${name}@acme.test`, '{PLAIN}secret'])),
  })
  const doveadm = await startDoveadmProxy(dovecot.ports.doveadm)
  const env = { ...dovecot.env, DOVEADM_URL: doveadm.url }
  const stopServers = async () => {
    await doveadm.stop()
    await dovecot.remove()
  }
  const app = await orStop(startApp(isElsewhere ? {} : { env }), stopServers)
  const acme = await app.tenant('acme')
  const accounts: Record<string, { id: string; path: string }> = {}
  for (const name of NAMES) {
    accounts[name] = await insertMailbox(app, acme, { email: `${name}@acme.test` })
  }
  const clients: ImapClient[] = []
  const state = { path: '' }

  const synchronized = () =>
    waitFor(async () => {
      const pending = app.core.db.selectFrom('shared_mailbox_rights_pending').select('email')
      return (await pending.execute()).length === 0
    })
  const open = async (name: string) => {
    const client = await signIn(dovecot.ports.imap, `${name}@acme.test`, 'secret')
    clients.push(client)
    return client
  }

  return {
    app,
    acme,
    env,
    doveadm,
    synchronized,
    open,
    /** The path of the shared mailbox. */
    path: () => state.path,
    account: (name: string) => accounts[name]?.path ?? '',
    member: (name: string) => `${state.path}/members/${accounts[name]?.id}`,

    /** Makes the shared mailbox with these members and their permissions. */
    async create(members: Record<string, string>) {
      const made = await acme.post(PATH, { email: TEAM_EMAIL, name: 'Team' })
      expect(made.status, made.text).toBe(201)
      state.path = `${PATH}/${made.body.data.id}`
      for (const [name, permission] of Object.entries(members)) {
        const body = { email_account_id: accounts[name]?.id, permission }
        expect((await acme.post(`${state.path}/members`, body)).status).toBe(200)
      }
      await synchronized()
    },

    /** A session that has a folder open. */
    async selected(name: string, folder = TEAM) {
      const client = await open(name)
      expect(await client.isOk(`SELECT "${folder}"`)).toBe(true)
      return client
    },

    sees: async (name: string) =>
      (await (await open(name)).run(`LIST "" "${TEAM}"`)).includes(TEAM),

    /** Ends all sessions and deletes the shared mailbox. */
    async reset() {
      for (const client of clients.splice(0)) client.close()
      await acme.delete(state.path)
      await synchronized()
    },

    async stop() {
      for (const client of clients) client.close()
      await app.stop()
      await stopServers()
    },
  }
}
