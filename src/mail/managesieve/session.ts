import { type Conversation, converse, type Patience, type Server } from './conversation.ts'
import { ConnectionFailed, Refusal } from './errors.ts'
import { encoded, type Token } from './syntax.ts'

export interface Login {
  /** The owner of the scripts. */
  mailbox: string
  user: string
  password: string
}

export type Session = ReturnType<typeof commands>

/** Connects and requires TLS, so that the master password is never sent in clear text. */
export async function connect(server: Server, patience: Patience): Promise<Conversation> {
  const talk = converse(server, patience)
  try {
    const greeting = await talk.greeting()
    if (capability(greeting.data, 'STARTTLS') === undefined)
      throw new ConnectionFailed('STARTTLS is missing')
    await talk.command('STARTTLS')
    await talk.secure()
    // RFC 5804 §2.2: the server sends its capabilities again; those from before TLS are void.
    const secured = await talk.greeting()
    const mechanisms = capability(secured.data, 'SASL')?.toUpperCase().split(' ') ?? []
    if (!mechanisms.includes('PLAIN')) throw new ConnectionFailed('PLAIN is not offered')
    return talk
  } catch (error) {
    talk.abandon()
    throw error instanceof Refusal ? new ConnectionFailed(error.message) : error
  }
}

/** RFC 4616: the mailbox to act for, the master user, the master password. */
export async function logIn(talk: Conversation, { mailbox, user, password }: Login) {
  const secret = Buffer.from(`${mailbox}\0${user}\0${password}`).toString('base64')
  try {
    await talk.command('AUTHENTICATE', ['"PLAIN"', encoded(secret)])
  } catch (error) {
    talk.abandon()
    throw error instanceof Refusal ? new ConnectionFailed('the master login is refused') : error
  }
}

/** The commands of RFC 5804 §2 that are needed to manage scripts. */
export const commands = (talk: Conversation) => ({
  async list(): Promise<{ name: string; active: boolean }[]> {
    const { data } = await talk.command('LISTSCRIPTS')
    return data.flatMap(([name, mark]) =>
      name?.kind === 'string'
        ? [{ name: name.text, active: mark?.kind === 'atom' && /^active$/i.test(mark.text) }]
        : [],
    )
  },

  /** Returns undefined for an unknown script. */
  async get(name: string): Promise<string | undefined> {
    try {
      const { data } = await talk.command('GETSCRIPT', [encoded(name)])
      const [script] = data[0] ?? []
      return script?.kind === 'string' ? script.text : ''
    } catch (error) {
      if (error instanceof Refusal && isMissing(error)) return undefined
      throw error
    }
  },

  async put(name: string, script: string): Promise<void> {
    await talk.command('PUTSCRIPT', [encoded(name), literal(script)])
  },

  /** An empty name leaves no script active. */
  async activate(name: string): Promise<void> {
    await talk.command('SETACTIVE', [encoded(name)])
  },

  async remove(name: string): Promise<void> {
    await talk.command('DELETESCRIPT', [encoded(name)])
  },
})

const literal = (text: string) => `{${Buffer.byteLength(text)}+}\r\n${text}`

const capability = (data: Token[][], name: string): string | undefined => {
  const line = data.find(([first]) => first?.kind === 'string' && first.text.toUpperCase() === name)
  const value = line?.[1]
  return line && (value?.kind === 'string' ? value.text : '')
}

// Older servers send no code.
const isMissing = ({ code, message }: Refusal) =>
  code === 'NONEXISTENT' || (code === '' && /not found|does not exist|no such/i.test(message))
