import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { accepted } from '../answer.ts'
import * as errors from '../encryption.errors.ts'
import { keyStore } from '../key-store.service.ts'
import { ownerOf } from '../owner.ts'
import type { Whose } from '../whose.ts'
import { certificates, saveCertificate } from './smime.repository.ts'

const TIME_LIMIT_MS = 20_000
export const PURPOSE = 'smime-private-key'

const readTask = taskIn<typeof import('./read-certificate.task.ts')>(
  'features/encryption/smime/read-certificate',
)

interface NewCertificate {
  certificate?: string
  pkcs12?: string
  passphrase?: string
  new_passphrase?: string
}

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now' | 'vault' | 'workers'>

export type CertificateService = ReturnType<typeof certificateService>

/** The S/MIME certificates of mailboxes and of their correspondents. */
export function certificateService(needs: Needs) {
  const { db, now, workers } = needs
  const { get, list, prefer, privateKey, remove, ...stored } = keyStore(needs, {
    method: 'smime',
    purpose: PURPOSE,
    repository: certificates,
    NotFound: errors.CertificateNotFound,
  })

  return {
    get,
    list,
    prefer,
    privateKey,
    remove,

    async import(caller: Caller, whose: Whose, email: string, sent: NewCertificate) {
      const { certificate, pkcs12, passphrase, new_passphrase: newPassphrase } = sent
      if ((certificate === undefined) === (pkcs12 === undefined)) {
        throw new errors.Refused('Send a certificate or a PKCS #12 file')
      }
      const owner = await ownerOf(db, whose, email)
      const input = { email: owner.email, certificate, pkcs12, passphrase, newPassphrase }
      const limits = { owner: whose.organizationId, timeLimitMs: TIME_LIMIT_MS }
      const read = accepted(await workers.run(readTask, { ...input, now: now() }, limits))
      const { private_key: _, ...facts } = read
      return stored.import(caller, whose, owner, read, (tx, row) =>
        saveCertificate(tx, { ...facts, ...row }),
      )
    },
  }
}
