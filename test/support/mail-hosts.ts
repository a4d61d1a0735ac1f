import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { clientOf, PASSWORD, ROOT_KEY } from './app.ts'
import { bootstrapBoth, ownerOf } from './installation.ts'
import { actionsOn, HOSTS } from './mail-host-actions.ts'
import { WITHOUT_LIMITS } from './mail-load.ts'
import { orStop } from './or-stop.ts'
import { cloneDatabase } from './postgres.ts'
import { run, type Server, startServer, temporaryFolder, workersIn } from './process.ts'

type Ports = Record<string, { port: number }>

/**
 * Several mail hosts on loopback: a front with proxy and Postfix, and two backends, each with a folder of
 * its own as on machines of their own.
 */
export async function startMailHosts(templateUrl: string) {
  const fleet = await startFleet(templateUrl)
  return Object.assign(fleet, actionsOn(fleet))
}

async function startFleet(templateUrl: string) {
  const database = await cloneDatabase(templateUrl)
  const folder = temporaryFolder()
  const env: Record<string, string> = {
    ...WITHOUT_LIMITS,
    DATABASE_URL: database.url,
    SVC_SECRET_KEY: ROOT_KEY,
    SVC_COOKIE_SECURE: 'false',
    SVC_HASHING_COST: 'lowest',
    SVC_MAIL_HOSTNAME: 'mx.edge.test',
    EDGE_ANTIVIRUS: 'false',
    EDGE_RELAY_HOST: '[127.0.0.1]:9',
    AUTH_POLICY_EXEMPT: '127.0.0.0/8',
    MAIL_MOVE_KEEP_HOURS: '0',
  }
  const dirOf = (name: string) => join(folder, name)
  const edge = (name: string, ...args: string[]) =>
    run(['edge', ...args], { ...env, DATA_DIR: dirOf(name) })
  const up = async (name: string, role: string): Promise<Ports> => {
    const { stdout, stderr } = await edge(name, 'up', '--host', name, '--role', role, '--json')
    expect(stderr).toBe('')
    return JSON.parse(stdout)
  }
  const ports: Record<string, Ports> = {}
  const portOf = (name: string, listener: string) => ports[name]?.[listener]?.port as number
  const start = () => startServer({ dataDir: dirOf('front'), env, hasEdge: true })
  let server: Server | undefined
  const stop = async () => {
    await server?.stop()
    for (const name of ['front', 'one', 'two']) await edge(name, 'down', '--delete')
    await database.drop()
  }
  const startHosts = async () => {
    ports.front = await up('front', 'proxy,mx,submission,outbound')
    env.EDGE_AUTOMATIC_HOST = `127.0.0.1:${portOf('front', 'automatic')}`
    server = await start()
    for (const name of ['one', 'two']) ports[name] = await up(name, 'backend')
    return bootstrapBoth(server)
  }
  const made = await orStop(startHosts(), stop)
  const running = () => server as Server
  const owner = () => ownerOf(running(), made)

  const ids: Record<string, string> = {}
  const register = async (name: string, roles: string[]) => {
    const isBackend = roles.includes('backend')
    const answer = await owner().post(HOSTS, {
      name,
      roles,
      address: '127.0.0.1',
      doveadm_url: (ports[name] as unknown as { doveadm_url: string }).doveadm_url,
      ...(isBackend && {
        imap_port: portOf(name, 'imaps'),
        pop3_port: portOf(name, 'pop3s'),
        sieve_port: portOf(name, 'sieve'),
        lmtp_port: portOf(name, 'lmtp'),
        sync_port: portOf(name, 'sync'),
      }),
    })
    expect(answer.status, answer.text).toBe(201)
    ids[name] = answer.body.data.id
  }
  const registerAll = async () => {
    await register('front', ['proxy', 'mx', 'submission', 'outbound'])
    await register('one', ['backend'])
    await register('two', ['backend'])
  }
  await orStop(registerAll(), stop)

  return {
    ids,
    portOf,
    owner,
    get server() {
      return running()
    },
    tenant: () => clientOf(running(), { 'x-api-key': made.apiKey }),
    log: (name: string, file = 'dovecot') =>
      readFileSync(join(dirOf(name), 'edge', 'log', `${file}.log`), 'utf8'),
    organizationId: made.organizationId,
    async addMailbox(email: string, more: object = {}) {
      const answer = await this.tenant().post('/api/v1/mailboxes/email-accounts', {
        email,
        password: PASSWORD,
        ...more,
      })
      expect(answer.status, answer.text).toBe(201)
      return answer.body.data.id as string
    },
    /** The password of the master login of the control plane. */
    masterPassword: () =>
      /^IMAP_MASTER_PASSWORD=(.*)$/m.exec(
        readFileSync(join(dirOf('front'), 'edge', 'edge.env'), 'utf8'),
      )?.[1] as string,
    /** The files of a mailbox on the disk of a host. */
    filesOn: (name: string, id: string) =>
      readdirSync(join(dirOf(name), 'edge', 'mail'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes(id))
        .map((entry) => join(entry.parentPath, entry.name)),
    async kill() {
      await running().killNode()
    },
    async restart() {
      server = await start()
    },
    up,
    pidsOf: (name: string) => workersIn(realpathSync(join(dirOf(name), 'edge'))),
    stop,
  }
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>
export type MailHosts = Awaited<ReturnType<typeof startMailHosts>>
