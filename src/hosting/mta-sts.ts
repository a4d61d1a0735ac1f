import { createHash } from 'node:crypto'

export const MTA_STS_MODES = ['none', 'testing', 'enforce'] as const
export type MtaStsMode = (typeof MTA_STS_MODES)[number]

/** A day: a wrong policy is forgotten soon. */
const MAX_AGE = 86_400
const ID_LENGTH = 32

export interface StoredMode {
  mta_sts_mode: MtaStsMode
  mta_sts_problem: string | null
}

/**
 * The mode that senders are told. `enforce` makes them refuse delivery, so it is told only while DNS and
 * the certificate of the mail host are right.
 */
export const servedMode = (
  { mta_sts_mode: mode, mta_sts_problem: problem }: StoredMode,
  certificateProblem: string | undefined,
): MtaStsMode => {
  if (mode !== 'enforce') return mode
  return problem === null && certificateProblem === undefined ? 'enforce' : 'testing'
}

/** RFC 8461 §3.2. The MX is always the real mail host, never a name under the domain. */
export const policyText = (mode: MtaStsMode, mailHost: string): string =>
  `version: STSv1\r\nmode: ${mode}\r\nmx: ${mailHost}\r\nmax_age: ${MAX_AGE}\r\n`

/** The id in DNS changes exactly when the policy does. */
export const policyId = (policy: string): string =>
  createHash('sha256').update(policy).digest('hex').slice(0, ID_LENGTH)
