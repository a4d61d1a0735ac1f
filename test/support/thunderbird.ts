import { mkdirSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/lib/free-port.ts'
import type { ClientNetwork } from './client-network.ts'

/** Runs a script inside a Thunderbird without a window and returns what it passes to `done`. */
export async function inThunderbird(network: ClientNetwork, script: string): Promise<unknown> {
  const port = await freePort()
  const profile = join(network.folder, 'thunderbird')
  mkdirSync(profile)
  const preferences: Record<string, unknown> = {
    'marionette.port': port,
    'app.update.enabled': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
  }
  writeFileSync(
    join(profile, 'user.js'),
    Object.entries(preferences)
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
      .join(''),
  )
  const { ended, kill } = network.start('thunderbird', [
    ...['--headless', '--marionette', '-remote-allow-system-access', '-no-remote'],
    ...['-profile', profile],
  ])
  const socket = await connected(port, ended)
  try {
    const command = commands(socket)
    await command('WebDriver:NewSession')
    await command('Marionette:SetContext', { value: 'chrome' })
    await command('WebDriver:SetTimeouts', { script: 300_000 })
    // Thunderbird has roots of its own.
    const root = network.certificate.ca.replace(/-----.*-----|\n/g, '')
    const source = `const done = arguments[0];
      Cc['@mozilla.org/security/x509certdb;1'].getService(Ci.nsIX509CertDB)
        .addCertFromBase64('${root}', 'C,,');
      ${script}`
    const options = { args: [], sandbox: 'system', newSandbox: true }
    const result = await command('WebDriver:ExecuteAsyncScript', { script: source, ...options })
    return (result as { value: unknown }).value
  } finally {
    socket.destroy()
    kill()
    await ended
  }
}

/** Waits until Thunderbird listens; throws with its output when it has ended before. */
async function connected(port: number, ended: ReturnType<ClientNetwork['run']>): Promise<Socket> {
  let output: string | undefined
  void ended.then((result) => {
    output = result.output
  })
  for (;;) {
    if (output !== undefined) throw new Error(`Thunderbird has ended: ${output}`)
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    if (isOpen) return socket
    await sleep(200)
  }
}

type Reply = [type: number, id: number, error: { message: string } | null, result: unknown]

/** The protocol of Marionette: messages in JSON, each after its length and a colon. */
function commands(socket: Socket) {
  const waiting = new Map<number, (reply: Reply) => void>()
  let received = Buffer.alloc(0)
  let last = 0
  let hello = () => {}
  const greeted = new Promise<void>((resolve) => {
    hello = resolve
  })
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const colon = received.indexOf(':')
      const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)))
      if (colon < 0 || received.length < end) return
      const message = JSON.parse(received.subarray(colon + 1, end).toString())
      received = received.subarray(end)
      if (Array.isArray(message)) waiting.get(message[1])?.(message as Reply)
      else hello()
    }
  })
  return async (name: string, parameters: object = {}): Promise<unknown> => {
    await greeted
    const id = ++last
    const reply = new Promise<Reply>((resolve, reject) => {
      waiting.set(id, resolve)
      socket.once('close', () => reject(new Error(`Thunderbird has ended during ${name}`)))
    })
    const text = JSON.stringify([0, id, name, parameters])
    socket.write(`${Buffer.byteLength(text)}:${text}`)
    const [, , error, result] = await reply
    if (error) throw new Error(`${name}: ${error.message}`)
    return result
  }
}
