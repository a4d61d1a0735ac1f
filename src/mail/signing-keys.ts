import type { Config } from '../config.ts'
import { signingKeysInFiles } from './signing-keys.files.ts'
import { signingKeysInRedis } from './signing-keys.redis.ts'

export interface SigningKey {
  selector: string
  /** PEM. */
  privateKey: string
}

/** What Rspamd signs with. */
export interface SigningKeys {
  /** False while there is no Rspamd to be served. */
  readonly isConfigured: boolean
  /**
   * The keys a domain has from now on, and which of them signs. A key is there before it signs, and
   * one that was replaced stays as long as it is named: Rspamd may use it for another moment.
   */
  publish(domain: string, keys: readonly SigningKey[], signing: string | undefined): Promise<void>
  /** Every domain there is something for. */
  domains(): Promise<string[]>
  close(): Promise<void>
}

/** In a Redis where there is one that Rspamd can reach, otherwise in files. */
export const signingKeys = (config: Config): SigningKeys =>
  config.REDIS_URL?.startsWith('redis:')
    ? signingKeysInRedis(config.REDIS_URL)
    : signingKeysInFiles(config)
