import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Certificates in PEM that the operator trusts: the files of smime/roots in the data folder. */
export async function rootsIn(dataDir: string): Promise<string> {
  const folder = join(dataDir, 'smime', 'roots')
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.filter((name) => /\.(pem|crt)$/.test(name)).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.join('\n')
}
