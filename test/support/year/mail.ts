import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import { PASSWORD } from '../app.ts'
import type { MailHost } from '../edge.ts'
import { mailIn, openImap } from '../imap-client.ts'
import { message, openSmtp } from '../smtp-client.ts'

export interface SmtpLogin {
  id: string
  username: string
  secret: string
}

const OUTSIDE = 'somebody@elsewhere.test'

/** Actions of mailbox holders and senders on the mail servers of a host. */
export const mailOf = (host: MailHost) => ({
  /** Returns whether a holder can log in over IMAP. */
  async canRead(email: string, { password = PASSWORD, from = '127.0.0.1' } = {}): Promise<boolean> {
    const client = await openImap({ port: host.ports.imaps, from })
    try {
      const { ok, status } = await client.login(email, password)
      // Dovecot 2.3 restarts its login process now and then; such a failure is no refusal.
      return status.includes('[UNAVAILABLE]') ? this.canRead(email, { password, from }) : ok
    } finally {
      client.end()
    }
  },

  /** Runs IMAP commands of a holder, which all have to succeed, and returns the lines. */
  async imap(email: string, ...commands: string[]) {
    const client = await openImap({ port: host.ports.imaps })
    try {
      const { ok, status } = await client.login(email, PASSWORD)
      expect(ok, status).toBe(true)
      const lines: string[] = []
      for (const command of commands) {
        const answer = await client.command(command)
        expect(answer.ok, `${command}: ${answer.status}`).toBe(true)
        lines.push(...answer.lines)
      }
      return lines
    } finally {
      client.end()
    }
  },

  subjects: async (email: string, folder = 'INBOX') =>
    (await mailIn(host.ports.imaps, email, PASSWORD, folder)).map(
      (text) => /^Subject: (.*?)\r?$/m.exec(text)?.[1],
    ),

  /** Mail from outside that the host accepts and delivers. */
  async deliver(to: string, subject: string, body?: string) {
    const reply = await host.receive(to, subject, body)
    expect(reply.code, reply.text).toBe(250)
    await host.arrived(to, subject)
  },

  /** Sends one message with an SMTP login; returns the reply to it, or to a refused login. */
  async submit(login: SmtpLogin, from: string, to: string, subject: string) {
    const client = await host.submission()
    try {
      const auth = await client.auth(login.username, login.secret)
      if (auth.code !== 235) return auth
      return await client.send({ from, to, text: message(from, to, subject) })
    } finally {
      client.quit()
    }
  },

  /** The reply to the recipient of a message from outside that declares its size. */
  async announce(to: string, bytes: number) {
    const client = await openSmtp({ port: host.ports.smtp })
    try {
      await client.say(`MAIL FROM:<${OUTSIDE}> SIZE=${bytes}`)
      return await client.say(`RCPT TO:<${to}>`)
    } finally {
      client.quit()
    }
  },

  /** The files of the mail store that contain a text. */
  onDisk(text: string): string[] {
    try {
      const args = ['-rl', text, host.edge.settings.folders.mail]
      return execFileSync('grep', args, { encoding: 'utf8' }).trim().split('\n')
    } catch {
      return []
    }
  },
})

/** A date of INTERNALDATE in an APPEND command. */
export function imapDate(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T')
  const [year, month, day] = date.split('-')
  const names = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  return `${day}-${names[Number(month) - 1]}-${year} ${clock.slice(0, 8)} +0000`
}
