import { openLines } from './line-socket.ts'

export type ImapClient = Awaited<ReturnType<typeof openImap>>

interface Where {
  port: number
  host?: string
  from?: string
  patienceMs?: number
}

/** An IMAP client over TLS that returns the response to a command with its literals. */
export async function openImap(where: Where) {
  const lines = await openLines({ ...where, tls: true })
  await lines.line()
  let count = 0

  async function full(): Promise<string> {
    let text = ''
    for (;;) {
      const line = await lines.line()
      const literal = /\{(\d+)\}$/.exec(line)
      if (!literal) return text + line
      text += line.slice(0, literal.index)
      text += (await lines.bytes(Number(literal[1]))).toString('utf8')
    }
  }

  async function command(text: string): Promise<{ ok: boolean; lines: string[]; status: string }> {
    const tag = `t${++count}`
    lines.send(`${tag} ${text}\r\n`)
    const all: string[] = []
    for (;;) {
      const line = await full()
      if (line.startsWith(`${tag} `)) {
        const status = line.slice(tag.length + 1)
        return { ok: status.startsWith('OK'), lines: all, status }
      }
      all.push(line)
    }
  }

  return {
    command,
    /** Logs in with AUTHENTICATE, which accepts any bytes. */
    login: (user: string, password: string) =>
      command(`AUTHENTICATE PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`),
    async messages(folder = 'INBOX'): Promise<string[]> {
      const selected = await command(`SELECT "${folder}"`)
      if (!selected.ok) return []
      const fetched = await command('FETCH 1:* (BODY.PEEK[])')
      return fetched.lines.filter((line) => / FETCH /.test(line))
    },
    end: () => lines.end(),
  }
}

/** The messages of a mailbox as its holder reads them. */
export async function mailIn(port: number, user: string, password: string, folder = 'INBOX') {
  const client = await openImap({ port })
  try {
    const { ok, status } = await client.login(user, password)
    if (!ok) throw new Error(`IMAP refuses ${user}: ${status}`)
    return await client.messages(folder)
  } finally {
    client.end()
  }
}
