import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What arrived since it was last asked to forget. Times are of the clock that all processes share. */
export interface Receipts {
  count: number
  bytes: number
  firstNs: string
  lastNs: string
}

let ids: string[] = []
let times: bigint[] = []
let bytes = 0

const ANSWER = '{}'
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    const id = String(request.headers['x-webhook-id'])
    // A busy server may have something to tell of its own.
    if (id.startsWith('bench-')) {
      ids.push(id)
      times.push(process.hrtime.bigint())
      bytes += Number(request.headers['content-length'])
    }
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-length': ANSWER.length }).end(ANSWER)
    })
    return
  }
  response.setHeader('content-type', 'application/json')
  if (request.method === 'DELETE') {
    ids = []
    times = []
    bytes = 0
    response.end('{}')
  } else if (request.url === '/each') {
    response.end(JSON.stringify(ids.map((id, index) => [id, String(times[index])])))
  } else {
    const [firstNs, lastNs] = [String(times[0] ?? 0n), String(times.at(-1) ?? 0n)]
    response.end(JSON.stringify({ count: times.length, bytes, firstNs, lastNs } satisfies Receipts))
  }
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
