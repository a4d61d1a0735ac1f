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
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      wake()
      resolve()
    })
  })
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
    /** Waits for changes of the open folder (RFC 2177); returns a function that awaits one. */
    async idle() {
      text = ''
      socket.write('idle IDLE\r\n')
      await until(() => text.startsWith('+'))
      return (change: string) => until(() => text.includes(change))
    },
    /** Resolves when the server ends the connection. */
    ended: () => closed,
    close: () => socket.destroy(),
  }
}
