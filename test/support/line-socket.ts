import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'

const PATIENCE_MS = 60_000

export type LineSocket = Awaited<ReturnType<typeof openLines>>

interface Where {
  port: number
  /** Loopback unless set. */
  host?: string
  /** Implicit TLS. */
  tls?: boolean
  /** The local loopback IP address. */
  from?: string
  /** The time limit of a line. */
  patienceMs?: number
}

/** A line-based conversation, as in all mail protocols. */
export async function openLines({
  port,
  host = '127.0.0.1',
  tls = false,
  from,
  patienceMs = PATIENCE_MS,
}: Where) {
  let socket: Socket = connectTcp({ port, host, ...(from && { localAddress: from }) })
  let received = Buffer.alloc(0)
  let failure: Error | undefined
  let wake = () => {}
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    wake()
  }
  const fail = (error?: Error) => {
    failure ??= error ?? new Error('the server hung up')
    wake()
  }
  const follow = () => {
    socket.on('data', onData)
    socket.on('error', fail)
    socket.on('close', () => fail())
  }

  const more = async (): Promise<void> => {
    if (failure) throw failure
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the server is silent')), patienceMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function secure(servername?: string): Promise<void> {
    socket.removeAllListeners('data')
    socket.removeAllListeners('close')
    const plain = socket
    socket = connectTls({
      socket: plain,
      rejectUnauthorized: false,
      ...(servername && { servername }),
    })
    await new Promise((resolve, reject) => {
      socket.once('secureConnect', resolve)
      socket.once('error', reject)
    })
    received = Buffer.alloc(0)
    follow()
  }

  if (tls) await secure()
  else follow()

  return {
    secure,
    /** The certificate that the server presented. */
    certificate: () => (socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined),
    send: (text: string | Buffer) => socket.write(text),
    async line(): Promise<string> {
      for (;;) {
        const end = received.indexOf('\r\n')
        if (end !== -1) {
          const text = received.subarray(0, end).toString('utf8')
          received = received.subarray(end + 2)
          return text
        }
        await more()
      }
    },
    async bytes(count: number): Promise<Buffer> {
      while (received.length < count) await more()
      const taken = received.subarray(0, count)
      received = received.subarray(count)
      return taken
    },
    end: () => socket.destroy(),
  }
}
