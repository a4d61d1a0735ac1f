import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { postgresBinaries } from '../../src/database/embedded-binaries.ts'
import { edgeSecrets, MASTER_USER } from '../../src/edge/settings-of.ts'
import { vault } from '../../src/lib/vault.ts'
import { hostDoveadmKey } from '../../src/mail/mail-hosts.ts'
import { clientOf, PASSWORD, ROOT_KEY } from './app.ts'
import { blocksOf, pages } from './documentation.ts'
import { bootstrapBoth, ownerOf } from './installation.ts'
import { startMachines } from './machines.ts'
import { HOSTS } from './mail-host-actions.ts'
import { orStop } from './or-stop.ts'
import { MAIN, type Server, startServer } from './process.ts'

const DOMAIN = 'internal.example'
const ROLES = { front: 'proxy,mx,submission,outbound', one: 'backend', two: 'backend' }
type Host = keyof typeof ROLES
const HOST_NAMES = Object.keys(ROLES) as Host[]
const DATABASE_PASSWORD = 'change-me'
const CERTIFICATES = '/etc/mailplane/tls'
const DATABASE = '/var/lib/database'
const AS_DATABASE = 'setpriv --reuid=nobody --regid=nogroup --clear-groups'
const RELOAD_DATABASE = `${AS_DATABASE} ${postgresBinaries()}/pg_ctl -D ${DATABASE}/main reload`

/** The block of the section about certificates that contains the text. */
function documented(text: string): string {
  const page = pages.find(({ path }) => path === 'docs/growing.md')
  const found = blocksOf(page?.text ?? '').filter((block) => block.text.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} blocks with ${text}`)
  return found[0]?.text ?? ''
}

export type MailMachines = Awaited<ReturnType<typeof startMailMachines>>

/**
 * The control plane, a database, a front and two backends on machines of their own, set up with the commands of
 * docs/growing.md and of the README that `edge render` writes.
 */
export async function startMailMachines() {
  const machines = await startMachines(['control', 'db', ...HOST_NAMES], DOMAIN)
  const { run, folderOf, hostnameOf, addressOf } = machines
  const sealing = vault(ROOT_KEY)
  const { masterPassword } = edgeSecrets(sealing)
  const [authority, leaf, trust, variables] = [
    'Mail hosts',
    'NAME=',
    'update-ca-certificates',
    'NODE_EXTRA_CA_CERTS',
  ].map(documented) as [string, string, string, string]
  const env: Record<string, string> = {
    ...Object.fromEntries(
      variables
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(/=(.*)/s)),
    ),
    DATA_DIR: join(folderOf('control'), 'data'),
    SVC_SECRET_KEY: ROOT_KEY,
    SVC_COOKIE_SECURE: 'false',
    SVC_MAIL_HOSTNAME: hostnameOf('front'),
    SVC_HASHING_COST: 'lowest',
    EDGE_ANTIVIRUS: 'false',
    EDGE_CONTENT_FILTER_PORT: '0',
    EDGE_RATE_POLICY_PORT: '0',
    EDGE_ACCESS_POLICY_PORT: '0',
    EDGE_AUTH_POLICY_PORT: '0',
    EDGE_AUTOMATIC_HOST: `${hostnameOf('front')}:10588`,
    EDGE_TRUSTED_NETWORKS: machines.network,
    IMAP_MASTER_USER: MASTER_USER,
    IMAP_MASTER_PASSWORD: masterPassword,
    DOVEADM_API_KEY: hostDoveadmKey(sealing, 'front'),
  }
  let server: Server | undefined
  const stop = async () => {
    // A signal would end `nsenter` and not the server.
    await machines.stop()
    await server?.ended
  }

  /** Makes a certificate with the documented command; returns the path without its ending. */
  const issue = async (folder: string, name: string) => {
    await run('control', leaf.replace(/^NAME=.*$/m, `NAME=${name}; cd ${folder}`))
    return join(folder, name)
  }
  /** A certificate that ended yesterday; `req` makes none. */
  const issueExpired = async (folder: string, name: string) => {
    const path = await issue(folder, name)
    await run(
      'control',
      `cd ${folder}
       openssl req -new -key ${name}.key -subj /CN=${name} -addext subjectAltName=DNS:${name} |
         openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy \
           -days -1 -out ${name}.crt`,
    )
    return path
  }
  const makeAuthority = async (name: string) => {
    const folder = join(folderOf('control'), name)
    await run('control', `mkdir ${folder}; cd ${folder}; ${authority}`)
    return folder
  }
  /** Gives a machine this certificate, and its servers read it. */
  const install = async (machine: string, path: string) => {
    const isDatabase = machine === 'db'
    await run(
      machine,
      `install -d -m 0755 ${CERTIFICATES}
       install -m 0600 ${isDatabase ? '-o nobody' : ''} ${path}.key ${CERTIFICATES}/key.pem
       install -m 0644 ${path}.crt ${CERTIFICATES}/cert.pem`,
    )
  }

  /** A server keeps the output of its start open. */
  const startQuietly = (name: string, command: string) =>
    run(name, `{ ${command}; } > start.log 2>&1 || { cat start.log >&2; exit 1; }`)

  const startDatabase = async () => {
    const as = `${AS_DATABASE} ${postgresBinaries()}`
    await run(
      'db',
      `install -d -o nobody -m 0700 ${DATABASE}; cd ${DATABASE}; echo ${DATABASE_PASSWORD} > password
       ${as}/initdb -D main -U mailplane --pwfile=password >/dev/null
       echo 'hostssl all all ${machines.network} scram-sha-256' > main/pg_hba.conf
       cat >> main/postgresql.conf <<END
listen_addresses = '${addressOf('db')}'
unix_socket_directories = ''
ssl = on
ssl_cert_file = '${CERTIFICATES}/cert.pem'
ssl_key_file = '${CERTIFICATES}/key.pem'
fsync = off
END
       echo 'create database mailplane' | ${as}/postgres --single -D main postgres >/dev/null
       ${as}/pg_ctl -D main -w -l main.log start >/dev/null`,
    )
  }

  /** Follows the README of a rendered host. */
  const setUp = async (name: Host) => {
    const out = join(folderOf(name), 'rendered')
    const options = `--host ${name} --role ${ROLES[name]} --out ${out}`
    await run('control', `"${process.execPath}" "${MAIN}" edge render ${options}`, {
      ...env,
      EDGE_PRIVATE_ADDRESS: addressOf(name),
    })
    const readme = readFileSync(join(out, 'README.md'), 'utf8')
    const steps = [...readme.matchAll(/^ {7}(install|groupadd|touch|postmap) .*$/gm)]
    const files = [...readme.matchAll(/^ {3}\| (\S+) \| (\/\S+) \| (\w+):(\w+) \| (\d+) \|$/gm)]
    const copies = files.map(
      ([, file, path, owner, group, mode]) =>
        `install -D -o ${owner} -g ${group} -m ${mode} ${out}/${file} ${path}`,
    )
    const compile = /`(sievec .*?)`/.exec(readme)?.[1] ?? ''
    await run(name, [...steps.map(([line]) => line), ...copies, compile].join('\n'))
    await startQuietly(name, 'mkdir -p /run/dovecot; dovecot')
    if (name === 'front') await startQuietly(name, 'postfix start')
    const body = /^ {7}(\{.*\})$/m.exec(readme)?.[1] ?? ''
    return JSON.parse(body) as { roles: string[]; name: string }
  }

  const start = async () => {
    const folder = await makeAuthority('authority')
    for (const name of ['control', 'db', ...HOST_NAMES]) {
      writeFileSync(join(folderOf(name), 'ca.crt'), readFileSync(join(folder, 'ca.crt')))
      await run(name, trust)
      if (name !== 'control') await install(name, await issue(folder, hostnameOf(name)))
    }
    await startDatabase()
    const bodies = []
    for (const name of HOST_NAMES) bodies.push(await setUp(name))
    server = await startServer({
      dataDir: env.DATA_DIR as string,
      env,
      args: ['--services', 'api,worker'],
      through: machines.through('control'),
    })
    return { bodies, folder, made: await bootstrapBoth(server) }
  }
  const { bodies, folder, made } = await orStop(start(), stop)
  const owner = () => ownerOf(server as Server, made)
  const ids: Record<string, string> = {}
  for (const body of bodies) {
    const answer = await owner().post(HOSTS, body)
    expect(answer.status, answer.text).toBe(201)
    ids[body.name] = answer.body.data.id
  }

  return {
    ...machines,
    ids,
    owner,
    tenant: () => clientOf(server as Server, { 'x-api-key': made.apiKey }),
    async holder(email: string) {
      const holder = clientOf(server as Server, {}, new Map<string, string>())
      const login = { email_address: email, password: PASSWORD }
      expect((await holder.post('/api/v1/mailbox-auth/login', login)).status).toBe(200)
      return holder
    },
    authority: folder,
    makeAuthority,
    issue,
    issueExpired,
    /** Gives a machine another certificate, and its servers read it. */
    async present(machine: string, path: string) {
      await install(machine, path)
      await startQuietly(machine, machine === 'db' ? RELOAD_DATABASE : 'doveadm reload')
      if (machine === 'front') await startQuietly(machine, 'postfix reload')
    },
    /** Runs a command of Mailplane on the machine of the control plane. */
    mailplane: (args: string) => run('control', `"${process.execPath}" "${MAIN}" ${args}`, env),
    async addMailbox(email: string) {
      const account = { email, password: PASSWORD }
      const answer = await this.tenant().post('/api/v1/mailboxes/email-accounts', account)
      expect(answer.status, answer.text).toBe(201)
    },
    log: (name: Host) => run(name, 'cat /var/log/mailplane/*.log'),
    stop,
  }
}
