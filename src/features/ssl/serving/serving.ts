import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Core } from '../../../core.ts'
import type { ServerCertificate } from '../../../mail/server-certificates.ts'
import { certificateFolder, edgeFiles } from '../inventory/places.ts'
import { servable } from './serving.repository.ts'

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'serverCertificates'>

/** Gives the mail servers the certificates that they present by name. */
export function certificateServing({ config, db, log, serverCertificates }: Needs) {
  const folder = certificateFolder(config)

  return {
    /** Compares everything, so it can be repeated at any time. */
    async publishAll(): Promise<void> {
      if (!serverCertificates.isConfigured) return
      const byDomain = new Map<string, ServerCertificate>()
      for (const { domain, names, path } of await servable(db, folder, config.SVC_MAIL_HOSTNAME)) {
        const pem = byDomain.has(domain) ? undefined : await keyAndChain(path)
        if (pem !== undefined) byDomain.set(domain, { domain, names, pem })
      }
      const own = await Promise.all(edgeFiles(config).map((file) => textOf(file)))
      const changed = await serverCertificates.publish([...byDomain.values()], own.join('\n'))
      if (changed) log.info({ certificates: byDomain.size }, 'certificates given to mail servers')
    },
  }
}

/** The content of a file with a certificate and its key; undefined for all other files. */
async function keyAndChain(path: string): Promise<string | undefined> {
  const text = await textOf(path)
  try {
    const matches = new X509Certificate(text).checkPrivateKey(createPrivateKey(text))
    return matches ? text : undefined
  } catch {
    return undefined
  }
}

const textOf = (file: string) => readFile(file, 'utf8').catch(() => '')
