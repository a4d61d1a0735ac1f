import { afterEach, describe, expect, inject, it } from 'vitest'
import { blocksOf, commandsOf, type Page, pages } from '../support/documentation.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'

afterEach(cleanUp)

const page = pages.find(({ path }) => path === 'docs/growing.md') as Page
const blocks = blocksOf(page.text)
const starts = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(commandsOf)
  .filter((line) => /\bnpm start\b/.test(line))
const divided = starts.filter((line) => line.includes('--services'))

describe('docs/growing.md', () => {
  it('starts all cores with the documented command, and takes the documented mail host', async () => {
    const [command = ''] = starts.filter((line) => !divided.includes(line))
    const [, workers = ''] = /^SVC_WORKERS=(\d+) npm start$/.exec(command) ?? []
    const made = await installation()
    const env = { SVC_WORKERS: workers, SVC_COOKIE_SECURE: 'false' }
    const server = await startServer({ dataDir: made.dataDir, env })
    expect(server.output.stdout).toContain(`workers: ${workers}`)
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    const host = blocks.find(({ language }) => language === 'json')?.text ?? ''
    const added = await ownerOf(server, made).post('/api/v1/platform/mail-hosts', JSON.parse(host))
    expect(added).toMatchObject({ status: 201, body: { data: { name: 'one' } } })
    expect((await server.stop()).code).toBe(0)
  })

  it('divides the services over three kinds of machines', () => {
    expect(divided).toHaveLength(3)
  })

  it.each(divided)('has processes that become ready: %s', async (command) => {
    const database = await cloneDatabase(inject('databaseUrl'))
    const server = await startServer({
      dataDir: temporaryFolder(),
      env: {
        DATABASE_URL: database.url,
        SVC_SECRET_KEY: 'the root key that all machines have',
        SVC_INTERNAL_TOKEN: 'the token that all machines have',
      },
      args: (/npm start -- (.*)$/.exec(command)?.[1] ?? '').split(' '),
    })
    await until(async () => (await server.send('GET', '/readyz')).status === 200)
    expect(await server.stop()).toMatchObject({ code: 0 })
    await database.drop()
  })
})
