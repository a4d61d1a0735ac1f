import { httpProgram, type Login } from './program.ts'

const USING = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail']
const PAGE = 50
const PROPERTIES = [
  ...['id', 'threadId', 'mailboxIds', 'keywords', 'size', 'receivedAt', 'from', 'to', 'subject'],
  ...['sentAt', 'hasAttachment', 'preview'],
]

// biome-ignore lint/suspicious/noExplicitAny: answers of JMAP have many shapes
type Any = any

export type JmapProgram = Awaited<ReturnType<typeof jmapProgram>>

/** A program that speaks JMAP, with the mailbox of its login. */
export async function jmapProgram(login: Login, sessionPath = '/.well-known/jmap') {
  const http = httpProgram(login)
  const headers = { 'content-type': 'application/json' }
  const session = JSON.parse(await http.expect({ method: 'GET', path: sessionPath }, 200))
  const accountId = session.primaryAccounts[USING[1] as string] as string
  const path = new URL(session.apiUrl, login.base).pathname

  async function calls(...methodCalls: [string, object][]): Promise<Any[]> {
    const body = JSON.stringify({
      using: USING,
      methodCalls: methodCalls.map(([name, args], at) => [
        name,
        { accountId, ...args },
        String(at),
      ]),
    })
    const text = await http.expect({ method: 'POST', path, headers, body }, 200)
    return JSON.parse(text).methodResponses.map(([name, answer]: [string, Any]) => {
      if (name === 'error') throw new Error(JSON.stringify(answer))
      return answer
    })
  }
  const [boxes] = await calls(['Mailbox/get', { ids: null }])
  const inbox = boxes.list.find(({ role }: { role: string | null }) => role === 'inbox')

  return {
    calls,
    inbox: inbox.id as string,
    /** The newest messages of the inbox, as a list of mail shows them. */
    async page(): Promise<Any[]> {
      const [, got] = await calls(
        [
          'Email/query',
          {
            filter: { inMailbox: inbox.id },
            sort: [{ property: 'receivedAt', isAscending: false }],
            limit: PAGE,
          },
        ],
        [
          'Email/get',
          {
            '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' },
            properties: PROPERTIES,
          },
        ],
      )
      return got.list
    },
    async state(): Promise<string> {
      const [got] = await calls(['Email/get', { ids: [] }])
      return got.state
    },
    async changes(sinceState: string): Promise<Any> {
      const [changes] = await calls(['Email/changes', { sinceState, maxChanges: 100 }])
      return changes
    },
    async total(): Promise<number> {
      const [got] = await calls(['Mailbox/get', { ids: [inbox.id] }])
      return got.list[0].totalEmails
    },
    end: http.end,
  }
}
