import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { DAY_MS } from '../lib/time.ts'
import { StartupError } from '../startup-error.ts'

const DAYS = 825
const RENEW_BEFORE_MS = 30 * DAY_MS

/** The self-signed certificate of a private edge; renewed before it expires or when the name changes. */
export function ensureCertificate(
  folder: string,
  hostname: string,
): { certificate: string; key: string } {
  const files = { certificate: `${folder}/cert.pem`, key: `${folder}/key.pem` }
  if (!isGood(files.certificate, hostname) || !existsSync(files.key)) make(files, hostname)
  return files
}

function isGood(file: string, hostname: string): boolean {
  if (!existsSync(file)) return false
  const certificate = new X509Certificate(readFileSync(file))
  const left = new Date(certificate.validTo).getTime() - Date.now()
  return left > RENEW_BEFORE_MS && certificate.checkHost(hostname) !== undefined
}

/** Uses openssl, which is installed as a dependency of the mail servers. */
function make({ certificate, key }: { certificate: string; key: string }, hostname: string): void {
  const args = [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-days', String(DAYS), '-subj', `/CN=${hostname.slice(0, 64)}`],
    ...['-addext', `subjectAltName=DNS:${hostname},DNS:localhost,IP:127.0.0.1`],
    ...['-keyout', `${key}.new`, '-out', `${certificate}.new`],
  ]
  const { status, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) {
    const why = error?.message ?? stderr.trim().split('\n').at(-1)
    throw new StartupError(`openssl could not make a certificate for ${hostname}: ${why}`)
  }
  renameSync(`${key}.new`, key)
  renameSync(`${certificate}.new`, certificate)
}
