import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ARCHIVE, letter, restore, startArchiveHost, uploaded } from '../support/archive-host.ts'
import { startWithBackups } from '../support/backup-place.ts'
import { cleanUp, run, temporaryFolder } from '../support/process.ts'
import { skipped } from '../support/programs.ts'
import { radosgwMissing, startRadosgw } from '../support/radosgw.ts'
import { waitFor } from '../support/wait.ts'

const BUCKET = 'archive'

describe.skipIf(radosgwMissing)(`the S3 gateway of Ceph${skipped(radosgwMissing)}`, () => {
  let ceph: Awaited<ReturnType<typeof startRadosgw>>
  beforeAll(async () => {
    ceph = await startRadosgw(BUCKET)
  })
  afterAll(async () => {
    await ceph?.stop()
    await cleanUp()
  })

  it('keeps an archive: sealed objects are stored, read back and deleted', async () => {
    const host = await startArchiveHost({
      S3_ENDPOINT: ceph.url,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY: ceph.accessKey,
      S3_SECRET_KEY: ceph.secretKey,
    })
    const acme = await host.adminOf('acme')
    const text = letter('To be kept in Ceph', 'a long line\n'.repeat(50_000))
    expect(await host.pass(acme.email, text)).toMatch(/^250 /)
    const [stored] = await uploaded(acme)
    expect(await ceph.objects()).toHaveLength(1)
    const restored = await restore(acme, stored?.id)
    expect(restored.text).toBe(host.behind.received[0]?.content)

    const reason = { reason: 'As agreed with the customer' }
    expect((await acme.delete(`${ARCHIVE}/${stored?.id}`, reason)).status).toBe(200)
    await waitFor(async () => (await ceph.objects()).length === 0)
    await host.stop()
  })

  it('takes a backup in parts, from which another host is restored', async () => {
    const { server, env } = await startWithBackups(ceph)
    const made = await run(['backup', '--json'], env)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const backup = JSON.parse(made.stdout)
    expect(await ceph.objects()).toEqual([backup.location.replace(`s3://${BUCKET}/`, '')])
    expect(await run(['backup', 'verify', backup.location], env)).toMatchObject({ code: 0 })

    const elsewhere = join(temporaryFolder(), 'data')
    const place = { ...env, DATA_DIR: elsewhere, BACKUP_DIR: join(elsewhere, 'none') }
    const restored = await run(['restore', 'latest', '--json'], place)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(restored.stdout)).toMatchObject({
      backup_id: backup.backup_id,
      rows: backup.rows,
    })
    await server.stop()
  })
})
