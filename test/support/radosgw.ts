import { execFile as execFileCallback } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../src/lib/free-port.ts'
import { until } from './process.ts'
import { missingProgram } from './programs.ts'
import { openPrograms, user } from './running-programs.ts'

const execFile = promisify(execFileCallback)

/** The reason why Ceph cannot run here; undefined when it can. */
export const radosgwMissing = missingProgram(
  'ceph',
  'ceph-mon',
  'ceph-osd',
  'radosgw',
  'radosgw-admin',
  'curl',
)

/** A small Ceph: a monitor, one store in memory without copies, and its S3 gateway with a bucket. */
export async function startRadosgw(bucket: string) {
  const programs = openPrograms()
  const { folder } = programs
  const [monitor, port] = [await freePort(), await freePort()]
  const fsid = randomUUID()
  const configuration = join(folder, 'ceph.conf')
  const store = join(folder, 'osd')
  writeFileSync(
    configuration,
    `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitor}/0]
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${folder}
log file = ${folder}/$name.log
admin socket = ${folder}/$name.asok
crash dir = ${folder}
public addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${store}
osd objectstore = memstore
memstore device bytes = 512M
[client.rgw]
ms mon client mode = crc
rgw data = ${folder}
rgw frontends = beast endpoint=127.0.0.1:${port}
`,
    { mode: 0o644 },
  )
  const run = async (program: string, ...args: string[]) => {
    const own = program === 'monmaptool' ? [] : ['--conf', configuration]
    return (await execFile(program, [...own, ...args], programs.options)).stdout
  }
  const start = (program: string, ...args: string[]) =>
    programs.start(program, ['--conf', configuration, '--foreground', ...args])

  const map = join(folder, 'monmap')
  const address = `[v2:127.0.0.1:${monitor}]`
  await run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', address, map)
  await run('ceph-mon', '--id', 'a', '--mkfs', '--monmap', map)
  start('ceph-mon', '--id', 'a')
  const osd = randomUUID()
  mkdirSync(store)
  if (user.uid !== undefined) chownSync(store, user.uid, user.gid)
  await run('ceph', 'osd', 'new', osd)
  await run('ceph-osd', '--id', '0', '--mkfs', '--osd-uuid', osd)
  start('ceph-osd', '--id', '0')
  await until(async () => (await run('ceph', 'osd', 'stat')).includes('1 up'))
  const gateway = start('radosgw', '--name', 'client.rgw')
  const url = `http://127.0.0.1:${port}`
  await until(() => {
    if (!gateway.isRunning()) throw new Error(`radosgw does not start: ${gateway.output()}`)
    return fetch(url).then(
      () => true,
      () => false,
    )
  })
  const accessKey = randomBytes(10).toString('hex')
  const secretKey = randomBytes(20).toString('hex')
  const login = ['--access-key', accessKey, '--secret-key', secretKey]
  await run('radosgw-admin', 'user', 'create', '--uid', 'm', '--display-name', 'm', ...login)
  await execFile('curl', [
    ...['--silent', '--show-error', '--fail', '--aws-sigv4', 'aws:amz:us-east-1:s3'],
    ...['--user', `${accessKey}:${secretKey}`, '--request', 'PUT', `${url}/${bucket}`],
    ...['--header', `x-amz-content-sha256: ${createHash('sha256').digest('hex')}`],
  ])
  return {
    url,
    bucket,
    accessKey,
    secretKey,
    /** The names of the stored objects. */
    async objects(): Promise<string[]> {
      const listed = await run('radosgw-admin', 'bucket', 'list', '--bucket', bucket)
      return (JSON.parse(listed) as { name: string }[]).map(({ name }) => name)
    },
    stop: () => programs.stop(),
  }
}
