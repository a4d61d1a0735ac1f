import { type ChildProcess, spawn } from 'node:child_process'

const START_MS = 60_000
const STOP_MS = 12_000

export interface Started {
  child: ChildProcess
  url: string
  port: number
}

/** Starts a server that prints its loopback URL once it listens. */
export async function start(
  program: string,
  args: string[],
  environment: Record<string, string>,
  started: Started[],
): Promise<Started> {
  // Not the environment of this process: DATABASE_URL or NODE_OPTIONS would change the result.
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const server = { child, url: '', port: 0 }
  started.push(server)
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`${[program, ...args].join(' ')}: ${reason}\n${output}`))
    const timer = setTimeout(() => fail('did not start in time'), START_MS)
    const read = (chunk: Buffer) => {
      output += chunk
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port === undefined) return
      server.port = Number(port)
      server.url = `http://127.0.0.1:${port}`
      clearTimeout(timer)
      resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? code}`))
  })
  return server
}

/** Stops in reverse order, because the database belongs to one of the first servers. */
export async function stopAll(started: Started[]): Promise<void> {
  for (const { child } of started.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }
}
