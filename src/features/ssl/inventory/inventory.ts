import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import type { Core } from '../../../core.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { namedMutex } from '../../../lib/mutex.ts'
import { obtained } from '../contents/contents.repository.ts'
import { readCertificate } from './certificate-file.ts'
import { type FoundFile, forgetMissing, store } from './inventory.repository.ts'
import {
  type CandidateFile,
  candidate,
  candidates,
  certificateFolder,
  edgeFiles,
  fileOf,
} from './places.ts'

const MAX_BYTES = 256 * 1024

export type Inventory = ReturnType<typeof inventory>

/** Keeps the table of certificates in step with the certificate files. */
export function inventory({ config, db, now }: Pick<Core, 'config' | 'db' | 'now'>) {
  const folder = certificateFolder(config)
  const files = edgeFiles(config)
  const versions = new Map<string, string>()
  const inTurn = namedMutex()

  async function read({ path }: CandidateFile): Promise<FoundFile | undefined> {
    try {
      const { size } = await stat(path)
      if (size > MAX_BYTES) throw new Error('the file is too large for a certificate')
      const certificate = readCertificate(await readFile(path))
      if (!certificate) return undefined
      return { path, domain: certificate.domain ?? 'unknown', certificate, problem: null }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const problem = code ? `the file cannot be read (${code})` : message
      return { path, domain: domainByName(path), certificate: undefined, problem }
    }
  }

  async function refresh(): Promise<string | undefined> {
    let inFolder: CandidateFile[]
    let note: string | undefined
    let owned: string | undefined = folder
    try {
      inFolder = candidates(folder)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // The default folder does not exist until the first certificate. Where it is missing, the
      // certificates are on another machine, which may have the same path.
      owned = undefined
      if (code !== 'ENOENT' || config.SVC_CERTIFICATE_DIR !== undefined) {
        note = `SVC_CERTIFICATE_DIR ${folder} cannot be read (${code}); certificates are shown as they were`
      }
      inFolder = []
    }
    // Copies of the certificates in the database are no files of their own.
    const copies = new Set((await obtained(db)).map(({ domain }) => fileOf(folder, domain)))
    const found = [...inFolder, ...files.flatMap(candidate)]
    const all = found.filter(({ path }) => !copies.has(path))
    const changed = all.filter(({ path, version }) => versions.get(path) !== version)
    for (const file of changed) {
      const certificate = await read(file)
      if (certificate) {
        await db.transaction().execute((tx) => store(tx, certificate, now()))
      }
      versions.set(file.path, file.version)
    }
    const present = all.map(({ path }) => path)
    for (const path of versions.keys()) if (!present.includes(path)) versions.delete(path)
    if (note === undefined) await forgetMissing(db, { folder: owned, files, present })
    return note
  }

  return {
    folder,
    /** Reads changed files; returns a note for the operator if the folder cannot be read. */
    refresh: () => inTurn(['folder'], refresh),
  }
}

/** The domain of a broken file, from its name. */
function domainByName(path: string): string {
  const name = basename(path, extname(path))
  return toDomainName(name) ?? toDomainName(basename(dirname(path))) ?? 'unknown'
}
