import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface S3rver {
  run(): Promise<AddressInfo>
  close(): Promise<void>
  httpServer: HttpServer
}

/** The treatment of a request: refused with 403, not answered, or done without an answer. */
export type Fate = 'refused' | 'ignored' | 'unanswered'
type FateOf = (method: string, url: string) => Fate | undefined

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const BUCKET = 'archive'
const KEY = 'S3RVER'

/** An S3 server of its own (s3rver), which checks signatures and can go away for a while. */
export async function startS3() {
  const directory = mkdtempSync(join(tmpdir(), 'mailplane-s3-'))
  // CommonJS without types.
  const Server = createRequire(import.meta.url)('@20minutes/s3rver') as new (
    options: object,
  ) => S3rver
  let fateOf: FateOf = () => undefined
  const open = async (port: number) => {
    const server = new Server({
      address: '127.0.0.1',
      port,
      silent: true,
      directory,
      configureBuckets: [{ name: BUCKET }],
    })
    const address = await server.run()
    const { httpServer } = server
    const [handle] = httpServer.listeners('request') as Listener[]
    httpServer.removeAllListeners('request').on('request', (request, response) => {
      const fate = fateOf(request.method ?? '', request.url ?? '')
      if (fate === 'ignored') return
      if (fate === 'refused') {
        request.resume()
        response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      } else {
        if (fate === 'unanswered') response.end = () => response
        handle?.(request, response)
      }
    })
    return { server, port: address.port }
  }
  let opened = await open(0)
  let isOpen = true
  const { port } = opened
  const files = (): string[] =>
    readdirSync(join(directory, BUCKET), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('._S3rver_object'))
      .map((name) => join(directory, BUCKET, name))

  const away = async () => {
    if (!isOpen) return
    isOpen = false
    const closing = opened.server.close()
    opened.server.httpServer.closeAllConnections()
    await closing
  }
  let silent: { server: Server; sockets: Set<Socket> } | undefined
  const endSilence = async () => {
    if (!silent) return
    const { server, sockets } = silent
    silent = undefined
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    accessKey: KEY,
    secretKey: KEY,
    /** Settings of an installation that archives here. */
    env: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: BUCKET,
      S3_ACCESS_KEY: KEY,
      S3_SECRET_KEY: KEY,
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
    },
    /** The stored objects, by their names. */
    objects: () =>
      new Map(
        files().map((file) => [
          file.slice(join(directory, BUCKET).length + 1).replace('._S3rver_object', ''),
          readFileSync(file),
        ]),
      ),
    /** Changes the bytes of an object behind the back of the archive. */
    damage(key: string, change: (bytes: Buffer) => Buffer) {
      const file = files().find((name) => name.includes(key))
      if (!file) throw new Error(`no object ${key}`)
      writeFileSync(file, change(readFileSync(file)))
    },
    /** Decides about each request; undefined is the usual treatment. */
    decide(decide: FateOf) {
      fateOf = decide
    },
    away,
    /** Takes requests and does not answer; returns how many it has. */
    async silence() {
      await away()
      const sockets = new Set<Socket>()
      let requests = 0
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on('error', () => {})
        socket.once('data', () => requests++)
      })
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
      silent = { server, sockets }
      return () => requests
    },
    async back() {
      fateOf = () => undefined
      await endSilence()
      if (isOpen) return
      opened = await open(port)
      isOpen = true
    },
    async stop() {
      await endSilence()
      await away()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
