import * as env from './env.ts'

export const urlProtectionVariables = {
  URL_FEED_FILES: env.words(
    'Files with blocked hosts and addresses, one in each line; read again when they change',
    [],
  ),
  URL_DNSBL: env.words(
    'DNS lists of host names that are asked at each click; they learn which hosts are visited',
    [],
  ),
} as const
