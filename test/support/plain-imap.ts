import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface PlainFolder {
  use?: string
  messages: { text: string; flags: string[]; date: string }[]
}

interface Options {
  capabilities?: string[]
  delimiter?: string
  prefix?: string
  folders?: Record<string, PlainFolder>
  /** Accepts this access token by XOAUTH2 and no password. */
  token?: string
  /** Responses to these commands are sent one byte at a time, so that no idle timeout applies. */
  drip?: RegExp
  dripMs?: number
}

/** A small IMAP server with only the given extensions. */
export async function startPlainImap(options: Options = {}) {
  const { capabilities = [], delimiter = '/', prefix = '', folders = {} } = options
  const offered = ['IMAP4rev1', ...(options.token ? ['AUTH=XOAUTH2'] : []), ...capabilities]
  const sockets = new Set<Socket>()
  const seen: string[] = []
  const notified = new Map<Socket, string>()
  folders.INBOX ??= { messages: [] }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket)
        notified.delete(socket)
      })
    socket.write(`* OK [CAPABILITY ${offered.join(' ')}] ready\r\n`)
    void serve(socket).catch(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function serve(socket: Socket) {
    const read = reader(socket)
    let open: PlainFolder | undefined
    let user = ''
    for (;;) {
      const line = await read.line()
      const { tag = '', command = '' } = /^(?<tag>\S+) (?<command>.*)$/.exec(line)?.groups ?? {}
      seen.push(command)
      const lines: string[] = []
      let end = 'OK done'
      const name = nameIn(command)
      if (/^CAPABILITY/i.test(command)) lines.push(`* CAPABILITY ${offered.join(' ')}`)
      else if (/^AUTHENTICATE XOAUTH2/i.test(command)) {
        const [, user, auth] = Buffer.from(command.split(' ')[2] ?? '', 'base64')
          .toString()
          .split(/user=|\x01/)
        if (auth !== `auth=Bearer ${options.token}` || !user) end = 'NO [AUTHENTICATIONFAILED] no'
      } else if (/^(LOGIN|AUTHENTICATE)/i.test(command)) {
        user = /^LOGIN "?([^"* ]+)/i.exec(command)?.[1] ?? ''
        if (options.token) end = 'NO [AUTHENTICATIONFAILED] tokens only'
      } else if (/^NOTIFY SET/i.test(command)) notified.set(socket, user)
      else if (/^NAMESPACE/i.test(command))
        lines.push(`* NAMESPACE (("${prefix}" "${delimiter}")) NIL NIL`)
      else if (/^LIST "" ""/i.test(command)) lines.push(`* LIST (\\Noselect) "${delimiter}" ""`)
      else if (/^(LIST|LSUB)/i.test(command)) {
        for (const [path, { use }] of Object.entries(folders)) {
          lines.push(`* ${command.slice(0, 4)} (${use ?? ''}) "${delimiter}" "${path}"`)
        }
      } else if (/^CREATE/i.test(command)) folders[name] = { messages: [] }
      else if (/^(STATUS|SELECT|EXAMINE)/i.test(command)) {
        const folder = folders[name]
        const count = folder?.messages.length ?? 0
        if (!folder) end = 'NO no such folder'
        else if (/^STATUS/i.test(command)) {
          lines.push(`* STATUS "${name}" (MESSAGES ${count} UIDNEXT ${count + 1} UIDVALIDITY 7)`)
        } else {
          open = folder
          lines.push('* FLAGS ()', `* ${count} EXISTS`, '* OK [UIDVALIDITY 7] x')
          lines.push(`* OK [UIDNEXT ${count + 1}] x`)
        }
      } else if (/^UID SEARCH/i.test(command)) {
        lines.push(`* SEARCH ${(open?.messages ?? []).map((_, index) => index + 1).join(' ')}`)
      } else if (/^(UID )?FETCH/i.test(command)) lines.push(...fetched(open, command))
      else if (/^APPEND/i.test(command)) {
        const literal = /\{(\d+)(\+?)\}$/.exec(command)
        if (literal?.[2] === '') socket.write('+ go on\r\n')
        const text = (await read.bytes(Number(literal?.[1] ?? 0))).toString('latin1')
        if ((await read.line()) !== '') end = 'BAD one message at a time'
        else if (!folders[name]) end = 'NO [TRYCREATE] no such folder'
        else {
          const flags = (/\(([^)]*)\)/.exec(command)?.[1] ?? '').split(' ').filter(Boolean)
          const date = /"([^"]*)" \{/.exec(command)?.[1] ?? ''
          folders[name].messages.push({ text, flags, date })
        }
      }
      const answer = [...lines, `${tag} ${end}`, ''].join('\r\n')
      if (options.drip?.test(command)) await drip(socket, answer, options.dripMs ?? 50)
      else socket.write(answer, 'latin1')
    }
  }

  return {
    port: (server.address() as AddressInfo).port,
    folders,
    /** Every received command without its tag. */
    seen,
    open: () => sockets.size,
    /** The users to whom changes are reported (RFC 5465). */
    notified: () => [...notified.values()].sort(),
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const nameIn = (command: string) => {
  const name = /^\w+ (?:"([^"]*)"|(\S+))/.exec(command)
  return name?.[1] ?? name?.[2] ?? ''
}

function fetched(folder: PlainFolder | undefined, command: string): string[] {
  const set = command.replace(/^UID /i, '').split(' ')[1] ?? ''
  const part = /BODY\.PEEK\[\](?:<(\d+)\.(\d+)>)?/i.exec(command)
  return (folder?.messages ?? []).flatMap(({ text, flags, date }, index) => {
    const uid = index + 1
    const isAsked = set.split(',').some((range) => {
      const [from = 0, to = from] = range.split(':').map((one) => (one === '*' ? 1e9 : Number(one)))
      return uid >= from && uid <= to
    })
    if (!isAsked) return []
    if (!part) {
      return `* ${uid} FETCH (UID ${uid} FLAGS (${flags.join(' ')}) RFC822.SIZE ${text.length} INTERNALDATE "${date}")`
    }
    const [start, length] = [Number(part[1] ?? 0), Number(part[2] ?? text.length)]
    const piece = text.slice(start, start + length)
    const at = part[1] === undefined ? '' : `<${start}>`
    const size = /RFC822\.SIZE/i.test(command) ? `RFC822.SIZE ${text.length} ` : ''
    return `* ${uid} FETCH (UID ${uid} ${size}BODY[]${at} {${piece.length}}\r\n${piece})`
  })
}

async function drip(socket: Socket, answer: string, everyMs: number) {
  for (const byte of answer) {
    if (socket.destroyed) return
    socket.write(byte, 'latin1')
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

/** Reads lines and byte counts from a socket. */
function reader(socket: Socket) {
  let rest = Buffer.alloc(0)
  let wake = () => {}
  let isOver = false
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data])
    wake()
  })
  socket.on('close', () => {
    isOver = true
    wake()
  })
  async function until(enough: () => boolean) {
    while (!enough()) {
      if (isOver) throw new Error('closed')
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const take = (count: number) => {
    const taken = rest.subarray(0, count)
    rest = rest.subarray(count)
    return taken
  }
  return {
    async line() {
      await until(() => rest.includes('\r\n'))
      return take(rest.indexOf('\r\n') + 2)
        .toString('latin1')
        .slice(0, -2)
    },
    async bytes(count: number) {
      await until(() => rest.length >= count)
      return take(count)
    },
  }
}
