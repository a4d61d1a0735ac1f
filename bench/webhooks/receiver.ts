import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Events received since the last `forget`. Times are from the clock that all processes share. */
export interface Receipts {
  count: number
  bytes: number
  firstNs: string
  lastNs: string
}

let ids: string[] = []
let times: bigint[] = []
let bytes = 0

const answerOf = (body: unknown) => {
  const text = JSON.stringify(body)
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}
const ANSWER = answerOf({})

function answer(request: string): string {
  if (request.startsWith('POST ')) return ANSWER
  if (request.startsWith('DELETE ')) {
    ids = []
    times = []
    bytes = 0
    return ANSWER
  }
  if (request.startsWith('GET /each ')) {
    return answerOf(ids.map((id, index) => [id, String(times[index])]))
  }
  const [firstNs, lastNs] = [String(times[0] ?? 0n), String(times.at(-1) ?? 0n)]
  return answerOf({ count: times.length, bytes, firstNs, lastNs } satisfies Receipts)
}

function note(head: string, length: number): void {
  const id = /\r\nx-webhook-id: ([^\r]+)/i.exec(head)?.[1]
  // Ignore events of the server itself, such as a load alert.
  if (!id?.startsWith('bench-')) return
  ids.push(id)
  times.push(process.hrtime.bigint())
  bytes += length
}

/** Reads one request at a time per connection, because no sender uses pipelining. */
function serve(socket: Socket): void {
  let head = ''
  let missing = 0
  socket.on('error', () => socket.destroy())
  socket.on('data', (data) => {
    if (missing > 0) missing -= data.length
    else {
      head += data.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      note(head, length)
      missing = end + 4 + length - head.length
    }
    if (missing > 0) return
    socket.write(answer(head))
    head = ''
  })
}

// Not node:http: the receiver shares the cores with the senders and must use less CPU than they do.
const server = createServer({ noDelay: true }, serve)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
