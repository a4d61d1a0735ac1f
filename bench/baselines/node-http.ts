import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { body } from './body.ts'

const text = JSON.stringify(body)
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(text),
}

const server = createServer((_request, response) => {
  response.writeHead(200, headers).end(text)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
