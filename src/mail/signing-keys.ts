import type { Config } from '../config/index.ts'
import type { CurrentMailServers } from './mail-servers.ts'
import { signingKeysInFiles } from './signing-keys.files.ts'
import { signingKeysInRedis } from './signing-keys.redis.ts'

export interface SigningKey {
  selector: string
  /** PEM. */
  privateKey: string
}

/** Publishes DKIM keys to Rspamd. */
export interface SigningKeys {
  /** False while there is no folder or Redis that Rspamd reads. */
  readonly isConfigured: boolean
  /**
   * Sets the keys of a domain and the selector that signs. A key is stored before it signs. A
   * replaced key stays as long as it is listed, because Rspamd may still use it for a moment.
   */
  publish(domain: string, keys: readonly SigningKey[], signing: string | undefined): Promise<void>
  /** All domains with a published key or selector. */
  domains(): Promise<string[]>
  close(): Promise<void>
}

/** Uses Redis if it is configured without TLS, which Rspamd does not support; otherwise files. */
export const signingKeys = (
  config: Pick<Config, 'REDIS_URL'>,
  mailServers: CurrentMailServers,
  inFiles: SigningKeys = signingKeysInFiles(mailServers),
): SigningKeys =>
  config.REDIS_URL?.startsWith('redis:') ? signingKeysInRedis(config.REDIS_URL) : inFiles
