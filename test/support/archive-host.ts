import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { archiver } from '../../src/daemons/archiver.ts'
import { startContentFilter } from '../../src/daemons/content-filter.ts'
import { contentStages } from '../../src/features/index.ts'
import { originKey } from '../../src/mail/origin.ts'
import { type App, startApp } from './app.ts'
import { startReinjectSink } from './reinject-sink.ts'
import { startS3 } from './s3.ts'
import { openSmtp } from './smtp-client.ts'
import { waitFor } from './wait.ts'

export const ARCHIVE = '/api/v1/archive'
export const OUTSIDE = 'x@elsewhere.test'

export type Tenant = Awaited<ReturnType<App['tenant']>>
export type ArchiveHost = Awaited<ReturnType<typeof startArchiveHost>>

/** A message as text; each has another Message-ID. */
export const letter = (subject: string, body = 'a secret sentence', from = OUTSIDE) =>
  `From: ${from}\nTo: someone\nSubject: ${subject}\nMessage-ID: <${randomBytes(6).toString('hex')}@t.test>\n\n${body}`

/** The files that wait for their upload. */
export const spoolOf = (app: App) =>
  readdirSync(join(app.dataDir, 'archive-spool')).filter((name) => name.endsWith('.age'))

export const search = async (tenant: Tenant, query = '') => {
  const answer = await tenant.get(`${ARCHIVE}/search?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data.items as Record<string, string>[]
}

/** The archived messages, once all of them are in the object storage. */
export const uploaded = (tenant: Tenant, count = 1) =>
  waitFor(async () => {
    const found = await search(tenant)
    return found.length === count && found.every((one) => one.storage_type === 's3') && found
  })

export const restore = (tenant: Pick<Tenant, 'post'>, id = '') =>
  tenant.post(`${ARCHIVE}/${id}/restore`, { reason: 'asked for by the auditor' })

/** An app that archives what passes its content filter in an S3 server of its own. */
export async function startArchiveHost(env: Record<string, string> = {}) {
  const s3 = await startS3()
  const behind = await startReinjectSink()
  const port = String(behind.port)
  const app = await startApp({
    env: {
      ...s3.env,
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
      CONTENT_FILTER_PORT: '0',
      ...env,
    },
    daemons: [archiver],
  })
  // Rspamd runs in the mail lane only.
  const stages = (await contentStages(app.core)).filter(({ name }) => name !== 'spam')
  const filter = await startContentFilter(app.core, stages)

  return {
    app,
    s3,
    /** The mail server behind the content filter. */
    behind,

    /** A tenant with the key of an administrator. */
    async adminOf(name: string): Promise<Tenant> {
      const tenant = await app.tenant(name)
      const key = await app.key(tenant.organizationId, { permissions: { admin_access: true } })
      return { ...tenant, ...key }
    },

    /** Sends a message as Postfix does; with a login it is outgoing mail. */
    async pass(to: string | string[], text: string, login?: string) {
      const postfix = await openSmtp({ port: filter.filterPort as number })
      const origin = login ? `X-Mailplane-Origin: ${originKey(app.core.vault)} ${login}\n` : ''
      const reply = await postfix.send({ from: login ?? OUTSIDE, to, text: origin + text })
      postfix.quit()
      return reply.text
    },

    objectsOf: (tenant: Tenant) =>
      [...s3.objects()].filter(([key]) => key.includes(`/${tenant.organizationId}/`)),

    async stop() {
      await filter.stop()
      await app.stop()
      await behind.stop()
      await s3.stop()
    },
  }
}
