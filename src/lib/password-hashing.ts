import { availableParallelism } from 'node:os'
import { hash as argon2, verify } from '@node-rs/argon2'
import { hash as bcrypt } from 'bcrypt'
import { limiter } from './mutex.ts'

type HashingCost = 'standard' | 'lowest'
export type PasswordHashing = ReturnType<typeof passwordHashing>

const ARGON2ID = 2
const COSTS = {
  standard: { memoryCost: 19_456, timeCost: 2, bcryptRounds: 10 },
  lowest: { memoryCost: 64, timeCost: 1, bcryptRounds: 4 },
}

// More hashes in flight than cores would starve the thread pool that file and DNS work shares.
const hashingTurn = limiter(availableParallelism())

/** Hashes the passwords of people and of SMTP credentials. `lowest` is for tests only. */
export function passwordHashing(cost: HashingCost) {
  const { memoryCost, timeCost, bcryptRounds } = COSTS[cost]
  const options = { algorithm: ARGON2ID, memoryCost, timeCost, parallelism: 1 }
  const hash = (password: string) => hashingTurn(() => argon2(password, options))
  let decoy: Promise<string> | undefined

  return {
    hash,
    /** An unknown account is verified against a decoy hash, so that it takes the same time. */
    async matches(password: string, storedHash: string | undefined): Promise<boolean> {
      decoy ??= hash('the password of an account that does not exist')
      const stored = storedHash ?? (await decoy)
      const matches = await hashingTurn(() => verify(stored, password))
      return matches && storedHash !== undefined
    },
    /** bcrypt, because the mail server verifies these secrets. */
    hashSmtpSecret: (secret: string) => hashingTurn(() => bcrypt(secret, bcryptRounds)),
  }
}
