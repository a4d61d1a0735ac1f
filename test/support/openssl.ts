import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const opensslMissing =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed'

const DEFAULT_EXTENSIONS = [
  'basicConstraints=critical,CA:false',
  'keyUsage=critical,digitalSignature,keyEncipherment,keyAgreement',
  'extendedKeyUsage=emailProtection',
  'subjectKeyIdentifier=hash',
]

interface Wanted {
  key?: 'rsa' | 'ec'
  bits?: number
  days?: number
  extensions?: string[]
  /** Another certificate that signs, instead of the root. */
  by?: Issued
}

export interface Issued {
  /** In PEM, and as files. */
  certificate: string
  privateKey: string
  files: { certificate: string; key: string }
}

export type Openssl = ReturnType<typeof startOpenssl>

/** OpenSSL with a certificate authority of its own. */
export function startOpenssl() {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-openssl-'))
  const path = (name: string) => join(folder, name)
  const now = (args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let count = 0

  function newKey(file: string, key: 'rsa' | 'ec', bits: number): void {
    const options =
      key === 'rsa' ? ['RSA', `rsa_keygen_bits:${bits}`] : ['EC', 'ec_paramgen_curve:P-256']
    const [algorithm = '', option = ''] = options
    now(['genpkey', '-algorithm', algorithm, '-pkeyopt', option, '-out', file])
  }

  const root = path('root.pem')
  const rootKey = path('root.key')
  newKey(rootKey, 'ec', 0)
  now([
    'req',
    '-x509',
    '-new',
    '-key',
    rootKey,
    '-subj',
    '/CN=Test Root',
    '-days',
    '3650',
    '-out',
    root,
  ])

  return {
    root: readFileSync(root, 'utf8'),
    rootFile: root,

    /** A certificate with an address. */
    issue(email: string, wanted: Wanted = {}): Issued {
      const { key = 'ec', bits = 2048, days = 100, extensions = DEFAULT_EXTENSIONS, by } = wanted
      const name = `issued-${count++}`
      const files = { certificate: path(`${name}.pem`), key: path(`${name}.key`) }
      const request = path(`${name}.csr`)
      newKey(files.key, key, bits)
      now(['req', '-new', '-key', files.key, '-subj', `/CN=${name}`, '-out', request])
      const lines = [`subjectAltName=email:${email}`, ...extensions]
      writeFileSync(path(`${name}.ext`), lines.join('\n'))
      now([
        ...['x509', '-req', '-in', request, '-days', String(days), '-out', files.certificate],
        ...['-CA', by?.files.certificate ?? root, '-CAkey', by?.files.key ?? rootKey],
        ...['-CAcreateserial', '-extfile', path(`${name}.ext`)],
      ])
      const read = (file: string) => readFileSync(file, 'utf8')
      return { certificate: read(files.certificate), privateKey: read(files.key), files }
    },

    /** The PKCS #12 file of a certificate, in Base64. */
    pkcs12: ({ files }: Issued, passphrase: string, more: readonly string[] = []): string =>
      now([
        ...['pkcs12', '-export', '-in', files.certificate, '-inkey', files.key],
        ...['-certfile', root, '-passout', `pass:${passphrase}`, ...more],
      ]).toString('base64'),

    /** Rejects unless it exits with 0. */
    run: (args: readonly string[], input: string | Buffer = '') =>
      new Promise<string>((resolve, reject) => {
        const options = { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
        const child = execFile('openssl', args, options, (error, stdout, stderr) => {
          if (error) reject(new Error(`openssl ${args.join(' ')}: ${stderr}`, { cause: error }))
          else resolve(stdout)
        })
        // A program that fails may not read its input; its exit code says so.
        child.stdin?.on('error', () => {}).end(input)
      }),

    stop: () => rmSync(folder, { recursive: true, force: true }),
  }
}
