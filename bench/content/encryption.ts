import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as openpgp from 'openpgp'
import encryptMessage from '../../src/features/encryption/delivery/encrypt-with-pgp.task.ts'
import { gpgMissing, startGpg } from '../../test/support/gpg.ts'
import { cpuMs } from '../clients/cpu.ts'
import type { Row } from '../parts.ts'
import { median } from '../report.ts'

const MESSAGE_BYTES = 20_000
const MESSAGES = 100
const ROUNDS = 3
const AIM = 2

/** Messages encrypted to a key of Curve25519 as the content filter does, beside gpg run for each. */
export default async (): Promise<Row[]> => {
  if (gpgMissing) return [{ what: 'OpenPGP beside gpg', value: gpgMissing }]
  const { publicKey } = await openpgp.generateKey({
    type: 'ecc',
    curve: 'ed25519Legacy',
    userIDs: [{ email: 'ada@acme.example' }],
    format: 'armored',
  })
  const body = randomBytes(MESSAGE_BYTES).toString('base64').slice(0, MESSAGE_BYTES)
  const raw = Buffer.from(`Subject: x\r\nContent-Type: text/plain\r\n\r\n${body}\r\n`)
  const gpg = startGpg()
  try {
    await gpg.run(['--import'], publicKey)
    const encrypt = () => encryptMessage({ raw, publicKey, at: new Date() })
    await encrypt()
    const own: number[] = []
    const cpu: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [begin, cpuBegin] = [performance.now(), cpuMs(process.pid)]
      for (let at = 0; at < MESSAGES; at++) await encrypt()
      own.push((performance.now() - begin) / MESSAGES)
      cpu.push((cpuMs(process.pid) - cpuBegin) / MESSAGES)
      theirs.push(gpgMs(gpg.home, raw))
    }
    const ratio = median(theirs) / median(own)
    return [
      {
        what: `OpenPGP, ${MESSAGE_BYTES / 1000} KB: time, and CPU`,
        value: `${median(own).toFixed(2)} ms, ${median(cpu).toFixed(2)} ms`,
      },
      { what: 'gpg run for each message', value: `${median(theirs).toFixed(2)} ms` },
      { what: 'OpenPGP beside gpg', value: `${ratio.toFixed(1)} times`, aim: `${AIM} times` },
    ]
  } finally {
    gpg.stop()
  }
}

function gpgMs(home: string, input: Buffer): number {
  const recipient = ['--trust-model', 'always', '-r', 'ada@acme.example']
  const args = ['--homedir', home, '--batch', '--quiet', '--armor', ...recipient, '-e']
  const begin = performance.now()
  for (let at = 0; at < MESSAGES; at++) {
    const { status, stderr } = spawnSync('gpg', args, { input })
    if (status !== 0) throw new Error(stderr.toString())
  }
  return (performance.now() - begin) / MESSAGES
}
