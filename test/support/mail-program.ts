import { once } from 'node:events'
import { connect } from 'node:net'

export type ImapClient = Awaited<ReturnType<typeof signIn>>

/** A minimal IMAP mail program. */
export async function signIn(port: number, user: string, password: string) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  let wake = () => {}
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (more: string) => {
    text += more
    wake()
  })
  socket.on('close', () => wake())
  const until = async (isDone: () => boolean) => {
    while (!isDone()) {
      if (socket.destroyed) throw new Error(`the server hung up: ${text}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  await until(() => text.startsWith('* OK'))

  let count = 0
  /** Returns the whole response to a command, including the last line. */
  const run = async (command: string, literal?: string): Promise<string> => {
    const tag = `a${++count}`
    text = ''
    socket.write(`${tag} ${command}${literal === undefined ? '' : ` {${literal.length}}`}\r\n`)
    const isDone = () => new RegExp(`^${tag} (OK|NO|BAD)`, 'm').test(text)
    if (literal !== undefined) {
      await until(() => isDone() || text.startsWith('+'))
      if (!isDone()) socket.write(`${literal}\r\n`)
    }
    await until(isDone)
    return text
  }
  const answer = await run(`LOGIN "${user}" "${password}"`)
  if (!/^a1 OK/m.test(answer)) throw new Error(answer)
  return {
    run,
    isOk: async (command: string, literal?: string) =>
      / OK/.test((await run(command, literal)).split('\r\n').at(-2) ?? ''),
    close: () => socket.destroy(),
  }
}
