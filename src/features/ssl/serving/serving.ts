import { readFile } from 'node:fs/promises'
import type { Core } from '../../../core.ts'
import type { ServerCertificate } from '../../../mail/server-certificates.ts'
import { copyCertificates, openContent } from '../contents/contents.ts'
import { keyAndChain } from '../contents/issued.ts'
import { certificateFolder, edgeFiles } from '../inventory/places.ts'
import { servable } from './serving.repository.ts'

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'serverCertificates' | 'vault'>

/** Gives the mail servers the certificates that they present by name. */
export function certificateServing({ config, db, log, serverCertificates, vault }: Needs) {
  const folder = certificateFolder(config)

  return {
    /** Compares everything, so it can be repeated at any time. */
    async publishAll(): Promise<void> {
      // The mail servers get their certificates also where the folder cannot be written.
      const [copied] = await Promise.allSettled([copyCertificates({ config, db, vault })])
      if (serverCertificates.isConfigured) await publish()
      if (copied.status === 'rejected') throw copied.reason
    },
  }

  async function publish(): Promise<void> {
    const byDomain = new Map<string, ServerCertificate>()
    for (const row of await servable(db, folder, config.SVC_MAIL_HOSTNAME)) {
      const { domain, names, path, sealed_content } = row
      if (byDomain.has(domain)) continue
      const pem =
        sealed_content === null
          ? keyAndChain(await textOf(path))
          : openContent(vault, sealed_content)
      if (pem !== undefined) byDomain.set(domain, { domain, names, pem })
    }
    const own = await Promise.all(edgeFiles(config).map((file) => textOf(file)))
    const changed = await serverCertificates.publish([...byDomain.values()], own.join('\n'))
    if (changed) log.info({ certificates: byDomain.size }, 'certificates given to mail servers')
  }
}

const textOf = (file: string) => readFile(file, 'utf8').catch(() => '')
