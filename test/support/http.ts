import http from 'node:http'

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  // Tests read any field of a body; a wrong field name fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  body: any
  cookies: string[]
}

export interface Options {
  headers?: Record<string, string>
  body?: unknown
  /** Sent unchanged instead of `body`. */
  raw?: string | Buffer
  /** The loopback IP address of the client. */
  from?: string
  jar?: Map<string, string>
  /** Reuses connections; default is a new one for each request. */
  agent?: http.Agent
}

/** Sends one request on a new connection; does not follow redirects. */
export function send(
  base: string,
  method: string,
  path: string,
  options: Options = {},
): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers }
  const payload =
    options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  if (payload !== undefined) {
    headers['content-type'] ??= 'application/json'
    headers['content-length'] = String(Buffer.byteLength(payload))
  }
  if (options.jar?.size) {
    headers.cookie = Array.from(options.jar, ([name, value]) => `${name}=${value}`).join('; ')
  }
  return new Promise((resolve, reject) => {
    const request = http.request(
      new URL(path, base),
      {
        method,
        headers,
        agent: options.agent ?? false,
        ...(options.from && { localAddress: options.from }),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const cookies = response.headers['set-cookie'] ?? []
          if (options.jar) keep(options.jar, cookies)
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: parse(text),
            cookies,
          })
        })
      },
    )
    request.on('error', reject)
    if (payload !== undefined) request.write(payload)
    request.end()
  })
}

function keep(jar: Map<string, string>, cookies: string[]): void {
  for (const cookie of cookies) {
    const [pair = '', ...attributes] = cookie.split('; ')
    const [name = '', value = ''] = pair.split('=')
    if (value === '' || attributes.includes('Max-Age=0')) jar.delete(name)
    else jar.set(name, value)
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
