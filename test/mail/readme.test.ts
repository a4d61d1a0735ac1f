import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CleanRoot, cleanRoot, cleanRootImpossible, USER } from '../support/clean-root.ts'
import { blocksOf, commandsOf, type Page, pages, sectionOf } from '../support/documentation.ts'
import { edgeMissing } from '../support/edge.ts'
import { waitFor } from '../support/wait.ts'

const impossible = edgeMissing ?? cleanRootImpossible()
const skipped = impossible === undefined ? '' : ` (skipped: ${impossible})`

const readme = pages.find(({ path }) => path === 'README.md') as Page
const commands = blocksOf(sectionOf(readme, 'Two commands'))
  .flatMap(commandsOf)
  .map((line) => line.replace(/ +#.*/, ''))
const named = (words: string) => commands.find((command) => command.includes(words)) ?? ''
const [START, UP, DOWN] = [named('npm start'), named('edge up'), named('edge down')]
const firstCalls = blocksOf(sectionOf(readme, 'First calls'))
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text)
const ADDRESS = 'admin@acme.example'
const LOGIN = `${ADDRESS}:a-long-passphrase-1`

// npm start and edge up in any order give a host that takes mail, or say what to do.
describe.skipIf(impossible)(`README.md in a clean root${skipped}`, () => {
  let host: CleanRoot
  beforeAll(async () => {
    host = await cleanRoot()
  })
  afterAll(() => host?.stop())

  /** Starts the server and waits until it is ready or has ended. */
  async function serve(as: 'root' | typeof USER, command: string) {
    const server = host.start(as, `echo $$ > /tmp/pid-of-${as}; exec env ${command}`)
    await waitFor(() => server.stdout().includes(' is ready at ') || !server.isRunning(), 600_000)
    return {
      ...server,
      async stop() {
        await host.run(as, `kill $(cat /tmp/pid-of-${as})`)
        return server.ended
      },
    }
  }
  const succeed = async (as: 'root' | typeof USER, command: string, input?: string) => {
    const { code, stdout, stderr } = await host.run(as, command, input)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }
  const shell = (as: typeof USER, script: string) => succeed(as, 'sh -eu', script)

  /** Delivers a message as another mail host does, and reads it as its receiver does. */
  async function takesMail(listing: string, subject: string) {
    const portOf = (name: string) => new RegExp(`^ +${name} +(\\S+)$`, 'm').exec(listing)?.[1]
    const text = [
      'From: Ann <ann@elsewhere.example>',
      `To: <${ADDRESS}>`,
      `Subject: ${subject}`,
      'Date: Mon, 2 Mar 2026 10:00:00 +0000',
      `Message-ID: <${subject}@elsewhere.example>`,
      '',
      'Hello',
      '',
    ].join('\r\n')
    const send = `curl -sS smtp://${portOf('smtp')} --mail-from ann@elsewhere.example --mail-rcpt ${ADDRESS} -T -`
    // Until the server has found the mail servers, they answer with temporary failures.
    await waitFor(async () => {
      const { code, stderr } = await host.run('root', send, text)
      expect(stderr).not.toMatch(/ 5\d\d/)
      return code === 0
    })
    const read = `curl -sSk 'imaps://${portOf('imaps')}/INBOX;MAILINDEX=1' -u ${LOGIN}`
    const mail = await waitFor(async () => {
      const { code, stdout } = await host.run(USER, read)
      return code === 0 && stdout
    })
    expect(mail).toContain(`Subject: ${subject}\r\n`)
  }

  it('takes mail after npm start as a user, then edge up as root', async () => {
    const own = await serve(USER, START)
    expect(own.stdout(), own.stderr()).toContain(' is ready at http://127.0.0.1:5000 ')
    const answers = await shell(USER, firstCalls.join(''))
    expect(answers.trimEnd()).toMatch(/"email":"root@ops\.example","role":"owner"[^\n]*$/)

    const refused = await host.run('root', UP)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^mailplane: [^\n]* belongs to jane[^\n]*\n$/)
    const advice = /start it with: sudo (.*), and run this command again/.exec(refused.stderr)?.[1]
    expect(advice).toBe(`SVC_USER=${USER} npm start`)
    expect(await own.stop()).toMatchObject({ code: 0 })

    const server = await serve('root', advice as string)
    expect(server.stdout(), server.stderr()).toContain(' is ready at ')
    await takesMail(await succeed('root', UP), 'after')
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
    expect(await succeed('root', `${DOWN} --delete`)).toBe('The mail edge is stopped\n')
    await succeed('root', 'rm -rf data')
  }, 600_000)

  it('takes mail after edge up as root, then npm start as a user', async () => {
    const listing = await succeed('root', UP)
    const refused = await serve(USER, START)
    const { code, stdout, stderr } = await refused.ended
    expect({ code, stdout: stdout.includes('ready') }).toEqual({ code: 1, stdout: false })
    expect(stderr).toMatch(/^mailplane: DATA_DIR [^\n]*\n$/)
    const advice = /start it with: sudo (.*)\n/.exec(stderr)?.[1]
    expect(advice).toBe(`SVC_USER=${USER} npm start`)

    const server = await serve('root', advice as string)
    expect(server.stdout(), server.stderr()).toContain(' is ready at ')
    await shell(USER, firstCalls[0] as string)
    await takesMail(listing, 'before')
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
    await succeed('root', DOWN)
  }, 600_000)
})
