import { readFile } from 'node:fs/promises'
import type { Core } from '../../../core.ts'
import { makeFolder, UNFINISHED, writeDurably } from '../../../lib/durable-file.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { Vault } from '../../../lib/vault.ts'
import { readCertificate } from '../inventory/certificate-file.ts'
import { certificateFolder, fileOf } from '../inventory/places.ts'
import { adopt, obtained } from './contents.repository.ts'
import { keyAndChain } from './issued.ts'

type Folder = Parameters<typeof certificateFolder>[0]

const PURPOSE = 'key of a certificate'

export const sealContent = (vault: Vault, pem: string): Buffer => vault.seal(PURPOSE, pem)

export const openContent = (vault: Vault, sealed: Buffer | Uint8Array): string =>
  vault.open(PURPOSE, Buffer.from(sealed))

/** Writes the file of this machine. Only this user can read it. */
export async function writeCopy(config: Folder, domain: string, pem: string): Promise<void> {
  const folder = certificateFolder(config)
  await makeFolder(folder)
  const path = fileOf(folder, domain)
  await writeDurably(path, pem, `${path}.${ulid()}${UNFINISHED}`)
}

/**
 * Writes the certificates that were obtained here into the folder of this machine, where other programs
 * find them. A file from the time when they were files only goes into the database.
 */
export async function copyCertificates({
  config,
  db,
  vault,
}: Pick<Core, 'config' | 'db' | 'vault'>): Promise<void> {
  const folder = certificateFolder(config)
  for (const { id, domain, sealed_content } of await obtained(db)) {
    const path = fileOf(folder, domain)
    const text = await readFile(path, 'utf8').catch(() => '')
    if (sealed_content !== null) {
      const pem = openContent(vault, sealed_content)
      if (text !== pem) await writeCopy(config, domain, pem)
      continue
    }
    if (keyAndChain(text) === undefined) continue
    const fingerprint = readCertificate(Buffer.from(text))?.fingerprint ?? ''
    const nextKey = await readFile(`${path}.next.key`, 'utf8').catch(() => undefined)
    await adopt(db, id, fingerprint, {
      content: sealContent(vault, text),
      nextKey: nextKey === undefined ? null : sealContent(vault, nextKey),
    })
  }
}
