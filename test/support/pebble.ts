import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { makeCertificate } from './certificates.ts'
import { waitFor } from './wait.ts'

const PROGRAM = '/usr/bin/pebble'

/** The reason why no test CA is available; undefined when one is. */
export const pebbleMissing = existsSync(PROGRAM) ? undefined : 'pebble is not installed'

export type Pebble = Awaited<ReturnType<typeof preparePebble>>

/** A test CA on loopback; the place of the challenge responses is configured later. */
export async function preparePebble() {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-pebble-'))
  const own = makeCertificate('localhost')
  const caFile = join(folder, 'cert.pem')
  writeFileSync(caFile, own.certificate)
  writeFileSync(join(folder, 'key.pem'), own.key)
  // The app is told the port long before Pebble starts; no other process may take it meanwhile.
  const placeholder = createServer().listen(await freePort(), '127.0.0.1')
  await once(placeholder, 'listening')
  const { port } = placeholder.address() as AddressInfo
  let stop = async () => {}

  return {
    env: {
      ACME_DIRECTORY_URL: `https://localhost:${port}/dir`,
      ACME_EMAILS: 'one@ops.test,two@ops.test',
      ACME_CA_FILE: caFile,
    },
    /**
     * Validates challenges at this port of the IP addresses from the DNS server, optionally slowly.
     */
    async start(httpPort: number, nameServer: string, sleepSeconds = 0) {
      const managementPort = await freePort()
      if (placeholder.listening) {
        placeholder.close()
        await once(placeholder, 'close')
      }
      const config = {
        pebble: {
          listenAddress: `127.0.0.1:${port}`,
          managementListenAddress: `127.0.0.1:${managementPort}`,
          certificate: caFile,
          privateKey: join(folder, 'key.pem'),
          httpPort,
          tlsPort: 1,
          ocspResponderURL: '',
        },
      }
      const file = join(folder, 'pebble.json')
      writeFileSync(file, JSON.stringify(config))
      const child = spawn(PROGRAM, ['-config', file, '-dnsserver', nameServer], {
        env: {
          // By default Pebble asks for a name that it knows again only every second time.
          PEBBLE_AUTHZREUSE: '0',
          ...(sleepSeconds === 0
            ? { PEBBLE_VA_NOSLEEP: '1' }
            : { PEBBLE_VA_SLEEPTIME: String(sleepSeconds) }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text
        })
      }
      const ended = once(child, 'exit')
      stop = async () => {
        child.kill()
        await ended
      }
      await waitFor(() => {
        if (child.exitCode !== null) throw new Error(`pebble ended: ${output}`)
        return output.includes('ACME directory available')
      })
    },
    async stop() {
      placeholder.close()
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
