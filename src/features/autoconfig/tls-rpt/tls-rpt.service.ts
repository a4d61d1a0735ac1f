import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Core } from '../../../core.ts'
import { ApiError } from '../../../errors.ts'
import { parseJson } from '../../../lib/json.ts'
import { DomainNotHosted } from '../autoconfig.errors.ts'
import { findHosted } from '../hosted.repository.ts'
import { readTlsReport } from './tls-report.ts'
import { insert } from './tls-rpt.repository.ts'

const MAX_UNPACKED_BYTES = 1024 * 1024
/** Large senders report once a day; forged reports must not fill the table. */
const PER_DOMAIN_AND_DAY = 500

const unpack = promisify(gunzip)

export type TlsRptService = ReturnType<typeof tlsRptService>

export function tlsRptService({ db, now }: Pick<Core, 'db' | 'now'>) {
  const counts = { stored: 0, ignored: 0, refused: 0 }
  return {
    counts,

    /** Stores the counts of hosted domains. A report that arrives twice counts once. */
    async receive(body: Buffer): Promise<void> {
      try {
        const { policies, ...report } = await readBody(body)
        const found = await Promise.all(policies.map(({ domain }) => findHosted(db, domain)))
        if (found.every((row) => row === undefined)) throw new DomainNotHosted()
        for (const [index, row] of found.entries()) {
          const policy = policies[index]
          if (!row || !policy) continue
          const limits = { perDay: PER_DOMAIN_AND_DAY, now: now() }
          const stored = await db
            .transaction()
            .execute((tx) => insert(tx, row.id, report, policy, limits))
          counts[stored ? 'stored' : 'ignored']++
        }
      } catch (error) {
        counts.refused++
        throw error
      }
    },
  }
}

async function readBody(body: Buffer) {
  try {
    const isPacked = body[0] === 0x1f && body[1] === 0x8b
    const text = isPacked ? await unpack(body, { maxOutputLength: MAX_UNPACKED_BYTES }) : body
    return readTlsReport(parseJson(text))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ApiError(413, 'The report is larger than 1 MB when it is unpacked')
    }
    throw new ApiError(400, `This is not a TLS report: ${message}`)
  }
}
