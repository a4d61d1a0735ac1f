import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../../config/index.ts'

const CERTIFICATE = /\.(pem|crt|cer)$/i
const MAX_FILES = 10_000

/** The folder of our own certificates. */
export const certificateFolder = ({
  SVC_CERTIFICATE_DIR,
  DATA_DIR,
}: Pick<Config, 'SVC_CERTIFICATE_DIR' | 'DATA_DIR'>): string =>
  resolve(SVC_CERTIFICATE_DIR ?? join(DATA_DIR, 'certificates'))

export const fileNameOf = (domain: string): string => `${domain}.pem`

/** One file has key and chain, so that one rename replaces both. */
export const fileOf = (folder: string, domain: string): string => join(folder, fileNameOf(domain))

export interface CandidateFile {
  path: string
  /** Changes with the file. */
  version: string
}

/** Files that may contain a certificate, in the folder and one level below. */
export function candidates(folder: string): CandidateFile[] {
  const files: CandidateFile[] = []
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (files.length >= MAX_FILES) break
    const path = join(folder, entry.name)
    if (CERTIFICATE.test(entry.name)) files.push(...candidate(path))
    // certbot and others use a folder for each certificate.
    else if (!entry.name.startsWith('.')) {
      const file = ['fullchain.pem', 'cert.pem', 'tls.crt'].find((name) =>
        existsSync(join(path, name)),
      )
      if (file !== undefined) files.push(...candidate(join(path, file)))
    }
  }
  return files
}

/** The certificate files of the mail servers. */
export const edgeFiles = ({ EDGE_TLS_CERT, DATA_DIR }: Config): string[] => [
  EDGE_TLS_CERT,
  join(DATA_DIR, 'edge', 'tls', 'cert.pem'),
]

/** Accepts regular files only, because opening a pipe would block. */
export function candidate(path: string): CandidateFile[] {
  try {
    const stat = statSync(path)
    return stat.isFile() ? [{ path, version: `${stat.ino} ${stat.mtimeMs} ${stat.size}` }] : []
  } catch (error) {
    // A deleted file is skipped. Other errors are reported when the file is read.
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? [] : [{ path, version: String(code) }]
  }
}
