import { connect } from 'node:net'

/** Sends raw bytes and returns everything received until the server closes the connection. */
export function sendRaw(base: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
  })
}

/** One header of a raw response. */
export const rawHeader = (response: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(response)?.[1]

export const rawBody = (response: string): string =>
  response.slice(response.indexOf('\r\n\r\n') + 4)
