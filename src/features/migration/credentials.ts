import type { Vault } from '../../lib/vault.ts'

const PURPOSE = 'migration-credentials'

/**
 * The password of the mailbox, and the password or access token of the other server. A follow-up job
 * without the password of the mailbox uses the master login.
 */
export interface Credentials {
  mailbox?: string | undefined
  remote: string
}

export const sealCredentials = (vault: Vault, { mailbox, remote }: Credentials): Buffer =>
  vault.seal(PURPOSE, JSON.stringify({ mailbox, remote }))

export const openCredentials = (vault: Vault, sealed: Buffer): Credentials =>
  JSON.parse(vault.open(PURPOSE, sealed))
