import { connect } from 'node:net'

/** Asks clamd for a sign of life; `address` is host:port or the path of its socket. */
export function pingClamd(address: string, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const colon = address.lastIndexOf(':')
    const socket = address.startsWith('/')
      ? connect(address)
      : connect(Number(address.slice(colon + 1)), address.slice(0, colon).replace(/^\[|\]$/g, ''))
    const end = (error?: Error) => {
      socket.destroy()
      if (error) reject(error)
      else resolve()
    }
    socket.setTimeout(patienceMs, () =>
      end(new Error(`${address} did not answer within ${patienceMs} ms`)),
    )
    socket.once('error', end)
    socket.once('connect', () => socket.write('zPING\0'))
    socket.once('data', (bytes) =>
      end(
        bytes.toString('latin1').startsWith('PONG')
          ? undefined
          : new Error('answered, but not with PONG'),
      ),
    )
    socket.once('close', () => end(new Error(`${address} closed the connection`)))
  })
}
