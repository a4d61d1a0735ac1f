import { PASSWORD } from './app.ts'
import { type Answer, send } from './http.ts'

export const USING = [
  'urn:ietf:params:jmap:core',
  'urn:ietf:params:jmap:mail',
  'urn:ietf:params:jmap:submission',
  'urn:ietf:params:jmap:vacationresponse',
]

// biome-ignore lint/suspicious/noExplicitAny: answers of JMAP have many shapes
type Any = any

export type JmapClient = Awaited<ReturnType<typeof jmapClient>>

export const basic = (email: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
})

/** A JMAP program of a mailbox holder. */
export async function jmapClient(base: string, email: string, password = PASSWORD) {
  const headers = basic(email, password)
  const session = await send(base, 'GET', '/.well-known/jmap', { headers })
  if (session.status !== 200) throw new Error(`no session: ${session.status} ${session.text}`)
  const accountId = Object.entries<Any>(session.body.accounts).find(
    ([, account]) => account.isPersonal,
  )?.[0] as string

  const request = (methodCalls: unknown[], using = USING): Promise<Answer> =>
    send(base, 'POST', '/jmap', { headers, body: { using, methodCalls } })

  return {
    session: session.body,
    accountId,
    headers,
    request,
    /** The arguments of the answer to one call; an error of the method has `type`. */
    async call(name: string, args: object = {}): Promise<Any> {
      const answer = await request([[name, { accountId, ...args }, 'a']])
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
      return answer.body.methodResponses[0][1]
    },
    get: (path: string) => send(base, 'GET', path, { headers }),
    async upload(text: string, type = 'text/plain', account = accountId): Promise<Any> {
      const answer = await fetch(`${base}/jmap/upload/${account}/`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: text,
      })
      return { status: answer.status, ...((await answer.json()) as object) }
    },
    /** The id of the mailbox with this role. */
    async role(role: string, account = accountId): Promise<string> {
      const { ids } = await this.call('Mailbox/query', { accountId: account, filter: { role } })
      return ids[0]
    },
  }
}
