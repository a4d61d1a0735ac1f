import { openLines } from './line-socket.ts'

/** The last line of a reply with its code. */
export interface Reply {
  code: number
  text: string
}

interface Where {
  port: number
  host?: string
  tls?: boolean
  from?: string
  lmtp?: boolean
  patienceMs?: number
}

export type SmtpClient = Awaited<ReturnType<typeof openSmtp>>

/** An SMTP or LMTP client that sends given commands and returns the replies. */
export async function openSmtp({ lmtp = false, ...where }: Where) {
  const lines = await openLines(where)
  const answer = async (): Promise<Reply & { lines: string[] }> => {
    const all: string[] = []
    for (;;) {
      const line = await lines.line()
      all.push(line)
      if (line[3] !== '-') return { code: Number(line.slice(0, 3)), text: line, lines: all }
    }
  }
  const say = (text: string) => {
    lines.send(`${text}\r\n`)
    return answer()
  }
  const hello = () => say(`${lmtp ? 'LHLO' : 'EHLO'} client.test`)
  await answer()
  let greeting = await hello()

  return {
    say,
    answer,
    /** The extensions that the server offers. */
    get offers() {
      return greeting.lines.map((line) => line.slice(4))
    },
    certificate: lines.certificate,
    async startTls(servername?: string) {
      const reply = await say('STARTTLS')
      if (reply.code !== 220) return reply
      await lines.secure(servername)
      greeting = await hello()
      return reply
    },
    auth: (user: string, password: string) =>
      say(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`),
    /** Sends one message. Returns the first rejection or the final reply. */
    async send({ from, to, text }: { from: string; to: string | string[]; text: string }) {
      const steps = [`MAIL FROM:<${from}>`, ...[to].flat().map((one) => `RCPT TO:<${one}>`), 'DATA']
      for (const step of steps) {
        const reply = await say(step)
        if (reply.code >= 400) return reply
      }
      lines.send(`${text.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..')}\r\n.\r\n`)
      return answer()
    },
    quit: () => lines.end(),
  }
}

/** A minimal message. */
export const message = (from: string, to: string, subject: string, body = 'Hello.') =>
  `From: <${from}>\nTo: <${to}>\nSubject: ${subject}\nMessage-ID: <${subject.replace(/\W/g, '-')}-${Date.now()}@client.test>\nDate: Sun, 15 Nov 2026 10:00:00 +0000\n\n${body}`
