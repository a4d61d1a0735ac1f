import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Serves one compressed file from memory, with the headers that the web app sends with it.
const contents = readFileSync(process.argv[2] ?? '')
const headers = {
  'content-type': 'text/javascript; charset=utf-8',
  'content-encoding': 'br',
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'Accept-Encoding',
  'content-length': contents.length,
}

const server = createServer((_request, response) => {
  response.writeHead(200, headers).end(contents)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
