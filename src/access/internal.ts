import type { IncomingMessage } from 'node:http'
import { sameSecret } from '../lib/tokens.ts'
import { InternalTokenRequired, InvalidInternalToken } from './access.errors.ts'

/** The file in DATA_DIR that holds the token when SVC_INTERNAL_TOKEN is unset. */
export const INTERNAL_TOKEN_FILE = 'internal-token'

/**
 * Checks the token of requests between services of the installation. The IP address of the caller
 * proves nothing: behind a reverse proxy on this machine every request comes from loopback.
 */
export const internalGate =
  (token: string) =>
  ({ headers }: Pick<IncomingMessage, 'headers'>): void => {
    const given = headers['x-internal-token'] ?? bearer(headers.authorization)
    if (given === undefined || given === '') throw new InternalTokenRequired()
    if (!sameSecret(String(given), token)) throw new InvalidInternalToken()
  }

export const bearer = (header: string | undefined): string | undefined =>
  header !== undefined && /^bearer /i.test(header) ? header.slice(7).trim() || undefined : undefined
