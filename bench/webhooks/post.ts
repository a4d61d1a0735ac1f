import { Agent, request } from 'node:http'

/** Posts over keep-alive connections and reads the response, with `node:http` alone. */
export function poster(url: string, connections: number) {
  const { hostname: host, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  return (headers: Record<string, string>, body: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const length = { 'content-length': String(Buffer.byteLength(body)) }
      const options = { host, port, path: '/hook', method: 'POST', agent }
      const post = request({ ...options, headers: { ...headers, ...length } }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`the receiver answered ${response.statusCode}`))
        })
      })
      post.on('error', reject)
      post.end(body)
    })
}
