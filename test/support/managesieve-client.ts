import { openLines } from './line-socket.ts'

export type ManageSieveClient = Awaited<ReturnType<typeof openManageSieve>>

/** A ManageSieve client after STARTTLS that sends given commands and returns the replies. */
export async function openManageSieve(port: number, host?: string) {
  const lines = await openLines({ port, ...(host && { host }) })
  /** All lines of a reply; the last one begins with OK, NO or BYE. */
  const answer = async (): Promise<string[]> => {
    const all: string[] = []
    for (;;) {
      const line = await lines.line()
      all.push(line)
      if (/^(OK|NO|BYE)/.test(line)) return all
    }
  }
  const command = (text: string) => {
    lines.send(`${text}\r\n`)
    return answer()
  }
  await answer()
  await command('STARTTLS')
  await lines.secure()
  await answer()

  return {
    command,
    /** Logs in, optionally for another user. Returns the last line of the reply. */
    async login(user: string, password: string, asUser = '') {
      const sent = Buffer.from(`${asUser}\0${user}\0${password}`).toString('base64')
      return (await command(`AUTHENTICATE "PLAIN" "${sent}"`)).at(-1) as string
    },
    put: async (name: string, script: string) =>
      (await command(`PUTSCRIPT "${name}" {${Buffer.byteLength(script)}+}\r\n${script}`)).at(
        -1,
      ) as string,
    end: () => lines.end(),
  }
}
