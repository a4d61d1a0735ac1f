import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config.ts'

const CERTIFICATE = /\.(pem|crt|cer)$/i
const MAX_FILES = 10_000

/** Where our own certificates lie. */
export const certificateFolder = ({
  SSL_CERT_DIR,
  DATA_DIR,
}: Pick<Config, 'SSL_CERT_DIR' | 'DATA_DIR'>): string =>
  resolve(SSL_CERT_DIR ?? join(DATA_DIR, 'certificates'))

/** Key and chain together: one rename then replaces both. */
export const fileOf = (folder: string, domain: string): string => join(folder, `${domain}.pem`)

export interface CandidateFile {
  path: string
  /** Changes whenever the file does. */
  version: string
}

/** Files that may hold a certificate, in the folder and in folders of a domain one level below. */
export function candidates(folder: string): CandidateFile[] {
  const found: CandidateFile[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (found.length >= MAX_FILES) break
    const path = join(folder, entry.name)
    if (CERTIFICATE.test(entry.name)) found.push(...candidate(path))
    // As certbot and others lay them out: a folder each, with the chain in a file of its own.
    else if (!entry.name.startsWith('.')) {
      const file = ['fullchain.pem', 'cert.pem', 'tls.crt'].find((name) =>
        existsSync(join(path, name)),
      )
      if (file !== undefined) found.push(...candidate(join(path, file)))
    }
  }
  return found
}

/** Certificates of the mail servers, wherever they are. */
export const edgeFiles = ({ EDGE_TLS_CERT, DATA_DIR }: Config): string[] => [
  EDGE_TLS_CERT,
  join(DATA_DIR, 'edge', 'tls', 'cert.pem'),
]

/** Only plain files: whoever opens a pipe waits for ever. */
export function candidate(path: string): CandidateFile[] {
  try {
    const stat = statSync(path)
    return stat.isFile() ? [{ path, version: `${stat.ino} ${stat.mtimeMs} ${stat.size}` }] : []
  } catch (error) {
    // What is gone by now is not there; what may not be looked at is worth a word.
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? [] : [{ path, version: String(code) }]
  }
}
