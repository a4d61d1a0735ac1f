import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ageOpen, ageSeal, CannotOpen, newIdentity, readIdentity, readRecipient } from './age.ts'

const CHUNK = 64 * 1024

// x25519 of github.com/C2SP/CCTV: the file key is "YELLOW SUBMARINE".
const VECTOR =
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBURWlGMHlwcXIrYnB2Y3FYTnlDVkpwTDdPdXdQZFZ3UEw3S1FFYkZET0NjCmhqYWJHWHdTTFE5YzNTNkx3MmkrUzJUdTJmaXdRSEhzbGJCTjZCNDFGTEUKLS0tIFd5SnA5Ri85Rk9aaDdnSmRoZXEyV0lKY3dIZ1ljOE5JVmgzZGR3aHJjTmcK7s9ix86RtDMnTmjU8vkTTLdMW/73vqpSyPC8DpksHoMx+2Y='

/** Debian's age; undefined where it is not installed. */
const program = (() => {
  try {
    execFileSync('age', ['--version'], { stdio: 'ignore' })
    return 'age'
  } catch {
    return undefined
  }
})()

describe('age', () => {
  it('opens the published test vector', async () => {
    const identity = readIdentity(
      'AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0',
    )
    const file = Buffer.from(VECTOR, 'base64')
    const plain = await ageOpen(identity ? [identity] : [], file)
    const hash = createHash('sha256').update(plain).digest('hex')
    expect(hash).toBe('013f54400c82da08037759ada907a8b864e97de81c088a182062c4b5622fd2ab')
  })

  it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 17])(
    'opens %i sealed bytes with each of two identities, and with no other',
    async (length) => {
      const [one, two, other] = [newIdentity(), newIdentity(), newIdentity()]
      const plain = randomBytes(length)
      const sealed = await ageSeal([one.recipient, two.recipient], plain)
      expect(await ageOpen([one], sealed)).toEqual(plain)
      expect(await ageOpen([other, two], sealed)).toEqual(plain)
      await expect(ageOpen([other], sealed)).rejects.toThrow(CannotOpen)
    },
  )

  it('refuses a file that was changed or cut at any place', async () => {
    const identity = newIdentity()
    const sealed = await ageSeal([identity.recipient], randomBytes(CHUNK + 50))
    const places = [0, 30, 60, 120, 190, 230, 260, 300, CHUNK, CHUNK + 200, sealed.length - 1]
    for (const place of places.filter((at) => at < sealed.length)) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(place) ^ 1, place)
      await expect(ageOpen([identity], changed)).rejects.toThrow(CannotOpen)
      await expect(ageOpen([identity], sealed.subarray(0, place))).rejects.toThrow(CannotOpen)
    }
    const longer = Buffer.concat([sealed, Buffer.from('x')])
    await expect(ageOpen([identity], longer)).rejects.toThrow(CannotOpen)
  })

  it('reads keys with a right checksum only', () => {
    const { text, recipient } = newIdentity()
    expect(readIdentity(text)?.recipient.text).toBe(recipient.text)
    expect(readRecipient(recipient.text)?.raw).toEqual(recipient.raw)
    const last = recipient.text.at(-1) === 'q' ? 'p' : 'q'
    for (const wrong of [recipient.text.slice(0, -1) + last, text, 'age1', '', 'AGE1aaaaaaaaaa']) {
      expect(readRecipient(wrong)).toBeUndefined()
    }
    expect(readIdentity(recipient.text)).toBeUndefined()
  })

  it.skipIf(program === undefined)('and the program age open what the other sealed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mailplane-age-'))
    try {
      const identity = newIdentity()
      const key = join(folder, 'key.txt')
      writeFileSync(key, `${identity.text}\n`)
      for (const length of [0, 100, CHUNK, 2 * CHUNK + 1]) {
        const plain = randomBytes(length)
        const input = await ageSeal([newIdentity().recipient, identity.recipient], plain)
        const opened = execFileSync('age', ['-d', '-i', key], { input })
        expect(opened).toEqual(plain)
        const theirs = execFileSync('age', ['-r', identity.recipient.text], { input: plain })
        expect(await ageOpen([identity], theirs)).toEqual(plain)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
