import { existsSync } from 'node:fs'
import { limiter } from '../lib/mutex.ts'
import type { Doveadm } from './doveadm.ts'
import type { CurrentMailServers } from './mail-servers.ts'
import { versionOf, writeServerCertificates } from './server-certificates.files.ts'

/** A certificate that the mail servers present to clients that ask for one of its names (SNI). */
export interface ServerCertificate {
  domain: string
  /** Names of hosts; `*.` at the start stands for one label. */
  names: string[]
  /** Key and chain, in this order. */
  pem: string
}

/** Gives the mail servers their certificates by name. */
export interface ServerCertificates {
  /** False while there is no folder that the mail servers read. */
  readonly isConfigured: boolean
  /** Replaces all certificates; returns whether anything changed. Open connections go on. */
  publish(certificates: readonly ServerCertificate[], defaultCertificate: string): Promise<boolean>
}

/** Writes the files of the mail servers; returns whether one changed. */
export type WriteCertificates = (
  certificates: readonly ServerCertificate[],
  version: string,
) => Promise<boolean>

/**
 * Postfix reads the files at each connection. Dovecot reads them when it reloads, also after a change
 * of the default certificate, which both servers present to all other clients.
 */
export function serverCertificates(
  mailServers: CurrentMailServers,
  doveadm: Doveadm,
  write: WriteCertificates = (certificates, version) =>
    writeServerCertificates(mailServers.current().EDGE_SNI_DIR, certificates, version),
): ServerCertificates {
  const inTurn = limiter(1)
  let isReloadDue = false
  return {
    get isConfigured() {
      return existsSync(mailServers.current().EDGE_SNI_DIR)
    },
    publish: (certificates, defaultCertificate) =>
      inTurn(async () => {
        const changed = await write(certificates, versionOf(defaultCertificate))
        isReloadDue ||= changed
        if (isReloadDue && doveadm.isConfigured) {
          const [answer] = await doveadm.run([['reload', {}]])
          if (answer?.exitCode) throw new Error(`Dovecot did not reload (${answer.exitCode})`)
        }
        isReloadDue = false
        return changed
      }),
  }
}
