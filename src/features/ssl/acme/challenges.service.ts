import type { Core } from '../../../core.ts'
import { defineError } from '../../../errors.ts'
import * as challenges from './challenges.repository.ts'

export const ChallengeNotFound = defineError({ status: 404, message: 'Challenge not found' })

// RFC 8555 §8.3: base64url, at least 128 bits.
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/

export type ChallengeService = ReturnType<typeof challengeService>

export const challengeService = ({ db }: Pick<Core, 'db'>) => ({
  /** The answer for the CA. It is in the database, so any process can return it. */
  async answer(token: string): Promise<string> {
    const challenge = TOKEN.test(token) ? await challenges.find(db, token) : undefined
    if (!challenge) throw new ChallengeNotFound()
    return challenge.key_authorization
  },
})
