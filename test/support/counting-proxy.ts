import { startProxy } from './proxy.ts'

/** A proxy in front of a server on loopback that counts what the server sends. */
export async function startCountingProxy(port: number) {
  let bytes = 0
  const proxy = await startProxy({ host: '127.0.0.1', port }, () => ({
    fromServer(chunk) {
      bytes += chunk.length
      return true
    },
  }))
  return {
    ...proxy,
    /** Bytes that the server has sent. */
    get bytes() {
      return bytes
    },
  }
}
