import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type Behaviour =
  | 'endless-greeting'
  | 'endless-line'
  | 'huge-literal'
  | 'endless-literal'
  | 'wrong-uids'
  | 'hang-up-in-message'
  | 'bye'
  | 'garbage'
  | 'silent'
  | 'silent-list'

const BODY = 'Message-ID: <1@hostile.example>\r\nSubject: one\r\n\r\nbody\r\n'

/** An IMAP server with one folder and three messages that misbehaves in one way. */
export async function startHostileImap(behaviour: Behaviour) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    if (behaviour === 'bye') return void socket.end('* BYE not today\r\n')
    if (behaviour === 'garbage') return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    if (behaviour === 'endless-greeting') return flood(socket, '* OK ')
    socket.write('* OK [CAPABILITY IMAP4rev1 UIDPLUS LITERAL+] ready\r\n')
    let rest = ''
    socket.on('data', (data) => {
      const lines = (rest + data.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) answer(socket, line, behaviour)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Writes until the client disconnects. */
function flood(socket: Socket, start: string) {
  socket.write(start)
  const block = 'x'.repeat(1024 * 1024)
  const more = () => {
    while (!socket.destroyed && socket.write(block)) {}
  }
  socket.on('drain', more)
  more()
}

function answer(socket: Socket, line: string, behaviour: Behaviour) {
  const [tag = '', ...words] = line.split(' ')
  const command = words.join(' ').toUpperCase()
  const ok = (...untagged: string[]) =>
    socket.write([...untagged, `${tag} OK done`, ''].join('\r\n'))
  if (behaviour === 'silent') return
  if (command.startsWith('CAPABILITY')) return ok('* CAPABILITY IMAP4rev1 UIDPLUS LITERAL+')
  if (command.startsWith('NAMESPACE')) return ok('* NAMESPACE (("" "/")) NIL NIL')
  if (command.startsWith('LIST') && behaviour === 'silent-list') return
  if (command.startsWith('LIST') || command.startsWith('LSUB')) {
    if (behaviour === 'endless-line') return flood(socket, '* LIST () "/" "')
    if (behaviour === 'huge-literal') return socket.write('* LIST () "/" {9999999999}\r\n')
    return ok(`* ${words[0]} () "/" INBOX`)
  }
  if (command.startsWith('STATUS')) {
    return ok('* STATUS INBOX (MESSAGES 3 UIDNEXT 4 UIDVALIDITY 7)')
  }
  if (/^(SELECT|EXAMINE)/.test(command)) {
    return ok('* 3 EXISTS', '* OK [UIDVALIDITY 7] x', '* OK [UIDNEXT 4] x', '* FLAGS ()')
  }
  if (command.startsWith('UID SEARCH')) return ok('* SEARCH 1 2 3')
  if (command.includes('BODY.PEEK[]')) return body(socket, command, behaviour, ok)
  if (command.startsWith('UID FETCH')) {
    const size = BODY.length
    return ok(
      ...[1, 2, 3].map(
        (uid) =>
          `* ${uid} FETCH (UID ${uid} FLAGS () RFC822.SIZE ${size} INTERNALDATE " 1-Jan-2020 00:00:00 +0000")`,
      ),
    )
  }
  return ok()
}

function body(
  socket: Socket,
  command: string,
  behaviour: Behaviour,
  ok: (...untagged: string[]) => void,
) {
  const requested = [1, 2, 3].filter((uid) => contains(command.split(' ')[2] ?? '', uid))
  if (behaviour === 'endless-literal')
    return flood(socket, '* 1 FETCH (UID 1 BODY[] {4000000000}\r\n')
  const sent = (uid: number, as: number) =>
    `* ${uid} FETCH (UID ${as} BODY[] {${BODY.length}}\r\n${BODY})`
  if (behaviour === 'wrong-uids') return ok(...requested.map((uid) => sent(uid, uid + 700)))
  if (behaviour === 'hang-up-in-message' && requested.includes(2)) {
    // The other messages can be fetched one at a time.
    return void socket.end(`* 2 FETCH (UID 2 BODY[] {${BODY.length}}\r\n${BODY.slice(0, 9)}`)
  }
  return ok(...requested.map((uid) => sent(uid, uid)))
}

const contains = (set: string, uid: number) =>
  set.split(',').some((range) => {
    const [from = 0, to = from] = range.split(':').map(Number)
    return uid >= from && uid <= to
  })
