import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

const MAX_GREETING = 16 * 1024

interface Server {
  host: string
  port: number
  tls?: boolean
  /** Matches the greeting of a working server; it may span several lines. */
  expects: RegExp
  goodbye: string
}

/** Connects, waits for the greeting of the protocol and quits. */
export function greeting({ host, port, tls, expects, goodbye }: Server, patienceMs: number) {
  return new Promise<void>((resolve, reject) => {
    // The probe tests liveness only; certificates are verified where identity matters.
    const socket: Socket = tls
      ? connectTls({ host, port, rejectUnauthorized: false })
      : connectPlain({ host, port })
    let heard = ''
    const end = (error?: Error) => {
      clearTimeout(timer)
      if (error) {
        socket.destroy()
        reject(error)
      } else {
        socket.end(goodbye)
        resolve()
      }
    }
    const timer = setTimeout(
      () => end(new Error(`${host}:${port} did not greet within ${patienceMs} ms`)),
      patienceMs,
    )
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      heard += text
      if (expects.test(heard)) end()
      else if (heard.length > MAX_GREETING) end(new Error('the greeting has no end'))
    })
    socket.on('error', end)
    socket.on('close', () => {
      const said = heard.split('\r\n')[0]?.slice(0, 100)
      end(new Error(`${host}:${port} closed the connection${said ? ` after: ${said}` : ''}`))
    })
  })
}
