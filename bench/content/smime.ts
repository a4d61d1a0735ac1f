import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import encryptMessage from '../../src/features/encryption/delivery/encrypt-with-smime.task.ts'
import { opensslMissing, startOpenssl } from '../../test/support/openssl.ts'
import { cpuMs } from '../clients/cpu.ts'
import type { Row } from '../parts.ts'
import { median } from '../report.ts'

const MESSAGE_BYTES = 20_000
const MESSAGES = 100
const ROUNDS = 3
const AIM = 2

/** Messages encrypted to a certificate of RSA 2048 as the content filter does, beside openssl run for each. */
export default async (): Promise<Row[]> => {
  if (opensslMissing) return [{ what: 'S/MIME beside openssl', value: opensslMissing }]
  const openssl = startOpenssl()
  try {
    const { certificate, files } = openssl.issue('ada@acme.example', { key: 'rsa' })
    const body = randomBytes(MESSAGE_BYTES).toString('base64').slice(0, MESSAGE_BYTES)
    const raw = Buffer.from(`Subject: x\r\nContent-Type: text/plain\r\n\r\n${body}\r\n`)
    const encrypt = () => encryptMessage({ raw, publicKey: certificate })
    await encrypt()
    const own: number[] = []
    const cpu: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [begin, cpuBegin] = [performance.now(), cpuMs(process.pid)]
      for (let at = 0; at < MESSAGES; at++) await encrypt()
      own.push((performance.now() - begin) / MESSAGES)
      cpu.push((cpuMs(process.pid) - cpuBegin) / MESSAGES)
      theirs.push(opensslMs(files.certificate, raw))
    }
    const ratio = median(theirs) / median(own)
    return [
      {
        what: `S/MIME, ${MESSAGE_BYTES / 1000} KB: time, and CPU`,
        value: `${median(own).toFixed(2)} ms, ${median(cpu).toFixed(2)} ms`,
      },
      { what: 'openssl cms run for each message', value: `${median(theirs).toFixed(2)} ms` },
      { what: 'S/MIME beside openssl', value: `${ratio.toFixed(1)} times`, aim: `${AIM} times` },
    ]
  } finally {
    openssl.stop()
  }
}

function opensslMs(certificate: string, input: Buffer): number {
  const args = ['cms', '-encrypt', '-aes-256-cbc', '-recip', certificate]
  const begin = performance.now()
  for (let at = 0; at < MESSAGES; at++) {
    const { status, stderr } = spawnSync('openssl', args, { input })
    if (status !== 0) throw new Error(stderr.toString())
  }
  return (performance.now() - begin) / MESSAGES
}
